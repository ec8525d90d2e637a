// Expectations of scenario files, compared with lines of effects and of the coordinator's answers.
#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "replay/scenario_player.hpp"

namespace dynaplan::replay {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 8> names{"scale_to", "traffic_wanted", "diagnostics", "wake_at",
                                                "error",    "published",      "refused",     "outcome"};

bool is_known(std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::string unknown(const std::string& name) {
    std::string message = "unknown name '" + name + "', known are no, holds";
    for (const std::string_view known : names) message += ", " + std::string{known};
    return message;
}

bool is_range(const json& e) {
    return e.is_object() && e.size() == 1 &&
           (e.contains("between") || e.contains("at_least") || e.contains("at_most"));
}

bool in_range(const json& range, const json& got) {
    if (!got.is_number()) return false;
    const double x = got.get<double>();
    const json& bound = *range.begin();
    if (range.contains("at_least")) return bound.is_number() && x >= bound.get<double>();
    if (range.contains("at_most")) return bound.is_number() && x <= bound.get<double>();
    return bound.is_array() && bound.size() == 2 && bound[0].is_number() && bound[1].is_number() &&
           x >= bound[0].get<double>() && x <= bound[1].get<double>();
}

bool same(const json& a, const json& b) {
    if (!a.is_number() || !b.is_number() || (!a.is_number_float() && !b.is_number_float())) return a == b;
    constexpr double tolerance = 1e-9;  // relative, as the golden vectors'
    const double x = a.get<double>();
    const double y = b.get<double>();
    return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
}

// Empty, or where the two differ.
std::string differs(const json& wanted, const json& got, const std::string& path) {
    const auto told = [&] { return path + ": expected " + wanted.dump() + ", got " + got.dump(); };
    if (is_range(wanted)) return in_range(wanted, got) ? "" : told();
    if (wanted.is_object() && got.is_object()) {
        for (const auto& [key, value] : wanted.items()) {
            std::string problem = differs(value, got.value(key, json()), path + "." + key);
            if (!problem.empty()) return problem;
        }
        return "";
    }
    if (wanted.is_array() && got.is_array() && wanted.size() == got.size()) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            std::string problem = differs(wanted[i], got[i], path + "[" + std::to_string(i) + "]");
            if (!problem.empty()) return problem;
        }
        return "";
    }
    return same(wanted, got) ? "" : told();
}

class Came {
public:
    explicit Came(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) all_.push_back(json::parse(line, nullptr, false));
    }
    [[nodiscard]] json list(std::string_view name) const {
        json of_name = json::array();
        for (const json& one : all_) {
            if (one.value("effect", one.value("event", "")) == name) of_name.push_back(one);
        }
        return of_name;
    }
    [[nodiscard]] json last(std::string_view name) const {
        const json of_name = list(name);
        return of_name.empty() ? json() : of_name.back();
    }

private:
    std::vector<json> all_;
};

Result<std::string> absent(const json& wanted, const Came& came) {
    for (const json& name : wanted.is_array() ? wanted : json::array({wanted})) {
        if (!name.is_string()) return failure("expect.no: a name, or a list of names");
        const auto forbidden = name.get<std::string>();
        if (!is_known(forbidden)) return failure("expect.no: " + unknown(forbidden));
        if (const json there = came.last(forbidden); !there.is_null())
            return "expected no " + forbidden + ", got " + there.dump();
    }
    return std::string{};
}

Result<std::string> one_key(const std::string& key, const json& wanted, const Came& came) {
    constexpr std::string_view all = "_all";
    if (key == "no") return absent(wanted, came);
    if (key == "holds") {
        const json last = came.last("diagnostics");
        return differs(wanted, last.is_null() ? json() : last.value("holds", json()), key);
    }
    if (key == "error" && wanted.is_string()) {
        const json last = came.last("error");
        const std::string message = last.is_null() ? "" : last.value("message", "");
        if (!last.is_null() && message.find(wanted.get<std::string>()) != std::string::npos) return "";
        return "error: expected " + wanted.dump() + ", got " + last.dump();
    }
    if (key.ends_with(all) && is_known(key.substr(0, key.size() - all.size())))
        return differs(wanted, came.list(key.substr(0, key.size() - all.size())), key);
    if (!is_known(key)) return failure("expect: " + unknown(key));
    return differs(wanted, came.last(key), key);
}

}  // namespace

Result<std::string> match_expectation(std::string_view text, const std::vector<std::string>& lines) {
    const json expected = json::parse(text.begin(), text.end(), nullptr, false);
    if (!expected.is_object()) return failure("expect: is no JSON object");
    const Came came{lines};
    for (const auto& [key, wanted] : expected.items()) {
        auto problem = one_key(key, wanted, came);
        if (!problem || !problem->empty()) return problem;
    }
    return std::string{};
}

std::optional<std::string> setting_value(std::string_view line, std::string_view name) {
    // Almost every line is an event: those are not parsed a second time.
    if (line.find(name) == std::string_view::npos) return std::nullopt;
    const json parsed = json::parse(line.begin(), line.end(), nullptr, false);
    if (!parsed.is_object() || parsed.size() != 1 || !parsed.contains(name)) return std::nullopt;
    const json& value = *parsed.begin();
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace dynaplan::replay
