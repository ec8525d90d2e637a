#include <algorithm>
#include <cstddef>

#include "wire/json_event.hpp"

namespace dynaplan::wire {

namespace {

constexpr std::string_view white = " \t\r\n";

std::string_view trimmed(std::string_view s) {
    const std::size_t begin = s.find_first_not_of(white);
    if (begin == std::string_view::npos) return {};
    return s.substr(begin, s.find_last_not_of(white) - begin + 1);
}

// Takes `token` and the white space after it off the front.
bool take(std::string_view& s, std::string_view token) {
    if (!s.starts_with(token)) return false;
    s.remove_prefix(token.size());
    s.remove_prefix(std::min(s.find_first_not_of(white), s.size()));
    return true;
}

}  // namespace

ScenarioLine scenario_line(std::string_view line) {
    const std::string_view whole = trimmed(line);
    if (whole.empty()) return {ScenarioLineKind::blank, {}};
    const ScenarioLine event{ScenarioLineKind::event, whole};
    std::string_view rest = whole;
    if (!take(rest, "{")) return event;
    ScenarioLineKind kind{};
    if (take(rest, "\"why\"")) {
        kind = ScenarioLineKind::why;
    } else if (take(rest, "\"config\"")) {
        kind = ScenarioLineKind::config;
    } else if (take(rest, "\"expect\"")) {
        kind = ScenarioLineKind::expect;
    } else {
        return event;
    }
    if (!take(rest, ":") || !rest.ends_with('}')) return event;
    return {kind, trimmed(rest.substr(0, rest.size() - 1))};
}

}  // namespace dynaplan::wire
