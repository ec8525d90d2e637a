// Expectations of scenario files, compared with effect lines.
#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "replay/scenario_player.hpp"

namespace dynaplan::replay {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 5> effect_names{"scale_to", "traffic_wanted", "diagnostics", "wake_at",
                                                       "error"};

// True when everything that `wanted` names is in `got`. Numbers compare by value: 5 is 5.0.
bool holds(const json& got, const json& wanted) {
    if (!wanted.is_object()) return got == wanted;
    if (!got.is_object()) return false;
    return std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& member) {
        const auto found = got.find(member.key());
        // A field that was left out is empty.
        return found == got.end() ? member.value().is_null() : holds(*found, member.value());
    });
}

bool is_effect(std::string_view name) {
    return std::find(effect_names.begin(), effect_names.end(), name) != effect_names.end();
}

std::string unknown_effect(const std::string& name) {
    std::string message = "unknown effect '" + name + "', known are";
    for (const std::string_view known : effect_names) message += " " + std::string{known};
    return message;
}

std::vector<json> named(const std::vector<json>& effects, const std::string& name) {
    std::vector<json> out;
    for (const json& e : effects) {
        if (e.value("effect", "") == name) out.push_back(e);
    }
    return out;
}

}  // namespace

Result<std::string> match_expectation(std::string_view text, const std::vector<std::string>& lines) {
    const json expected = json::parse(text.begin(), text.end(), nullptr, false);
    if (!expected.is_object()) return failure("expect: is no JSON object");
    std::vector<json> effects;
    for (const std::string& line : lines) effects.push_back(json::parse(line, nullptr, false));

    for (const auto& [key, wanted] : expected.items()) {
        if (key == "no") {
            const json names = wanted.is_array() ? wanted : json::array({wanted});
            for (const json& name : names) {
                if (!name.is_string()) return failure("expect.no: a name of an effect, or a list of names");
                const auto forbidden = name.get<std::string>();
                if (!is_effect(forbidden)) return failure("expect.no: " + unknown_effect(forbidden));
                if (!named(effects, forbidden).empty()) return "there is a " + forbidden;
            }
            continue;
        }
        if (!is_effect(key)) return failure("expect: " + unknown_effect(key));
        const std::vector<json> of_name = named(effects, key);
        if (wanted.is_array()) {
            if (wanted.size() != of_name.size()) {
                return std::to_string(of_name.size()) + " of " + key + " instead of " +
                       std::to_string(wanted.size());
            }
            for (std::size_t i = 0; i < of_name.size(); ++i) {
                if (!holds(of_name[i], wanted[i])) return key + " number " + std::to_string(i) + " differs";
            }
        } else if (wanted.is_object()) {
            const bool found = std::any_of(of_name.begin(), of_name.end(),
                                           [&, &want = wanted](const json& e) { return holds(e, want); });
            if (!found) return of_name.empty() ? "there is no " + key : "no " + key + " is like that";
        } else {
            return failure("expect." + key + ": an object of fields, or an array of such objects");
        }
    }
    return std::string{};
}

}  // namespace dynaplan::replay
