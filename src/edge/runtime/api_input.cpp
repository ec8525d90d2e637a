#include "runtime/api_input.hpp"

#include <charconv>
#include <limits>

#include <nlohmann/json.hpp>

namespace dynaplan::runtime {

namespace {

template <class Number>
bool whole(std::string_view text, Number& out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc{} && end == text.data() + text.size();
}

std::string shown(std::string_view text) {
    constexpr std::size_t shown_most = 40;
    std::string out = "'";
    for (const char c : text.substr(0, shown_most)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + (text.size() > shown_most ? "...'" : "'");
}

bool parse_wait(std::string_view text, Seconds& out) {
    constexpr double ms_per_second = 1000.0;
    double scale = 1.0;
    if (text.ends_with("ms")) {
        scale = 1.0 / ms_per_second;
        text.remove_suffix(2);
    } else if (text.ends_with("s")) {
        text.remove_suffix(1);
    }
    double value = 0.0;
    if (text.empty() || !whole(text, value) || !(value >= 0.0)) return false;
    out = Seconds{value * scale};
    return out <= wait_most;
}

}  // namespace

Result<DecisionId> decision_id(std::string_view text) {
    DecisionId id = 0;
    if (!whole(text, id) || id < 0)
        return failure("decision id: expected a number of 0 or more, not " + shown(text));
    return id;
}

Result<NextQuery> next_query(const net::HttpRequest& request) {
    NextQuery query;
    for (const net::QueryItem& item : request.query) {
        if (item.name == "after") {
            if (!whole(item.value, query.after) || query.after < -1)
                return failure("after: expected a decision id, or -1 for the first, not " +
                               shown(item.value));
        } else if (item.name == "wait") {
            if (!parse_wait(item.value, query.wait))
                return failure("wait: expected a time from 0s to 60s, as 30s or 500ms, not " +
                               shown(item.value));
        } else {
            return failure("unknown parameter " + shown(item.name) + ": expected after and wait");
        }
    }
    return query;
}

Result<std::vector<InventoryRead>> inventory_of(const std::string& body, Mode mode) {
    using nlohmann::json;
    constexpr auto shape = R"(expected {"decode": {"ready": 3, "expected": 4, "rolling": false}})";
    const json document = json::parse(body, nullptr, false);
    if (document.is_discarded() || !document.is_object() || document.empty())
        return failure(std::string{"inventory: "} + shape);
    std::vector<InventoryRead> roles;
    for (const auto& [name, value] : document.items()) {
        const auto role = role_from(name);
        if (!role || !has_role(mode, *role))
            return failure("inventory: " + shown(name) + " is no role of mode " +
                           std::string{to_string(mode)});
        if (!value.is_object()) return failure("inventory." + name + ": " + shape);
        InventoryRead read;
        read.role = *role;
        for (const auto& [key, field] : value.items()) {
            if (key == "rolling" && field.is_boolean()) {
                read.rolling = field.get<bool>();
                continue;
            }
            if (key != "ready" && key != "expected")
                return failure("inventory." + name + ": unknown or mistyped " + shown(key) + ": " + shape);
            if (field.is_null()) continue;
            constexpr std::uint64_t most = 1'000'000;
            if (!field.is_number_unsigned() || field.get<std::uint64_t>() > most)
                return failure("inventory." + name + "." + key + ": expected a count from 0 to 1000000");
            (key == "ready" ? read.ready : read.expected) = Replicas{field.get<std::int64_t>()};
        }
        roles.push_back(read);
    }
    return roles;
}

}  // namespace dynaplan::runtime
