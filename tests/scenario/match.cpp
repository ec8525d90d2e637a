#include "scenario/match.hpp"

#include <algorithm>
#include <cmath>

namespace dynaplan::scenario {

namespace {

constexpr double tolerance = 1e-9;  // relative, as the golden vectors'

bool is_range(const Json& e) {
    return e.is_object() && e.size() == 1 &&
           (e.contains("between") || e.contains("at_least") || e.contains("at_most"));
}

bool in_range(const Json& range, const Json& got) {
    if (!got.is_number()) return false;
    const double x = got;
    if (range.contains("between")) {
        return x >= range["between"].at(0).get<double>() && x <= range["between"].at(1).get<double>();
    }
    return range.contains("at_least") ? x >= range["at_least"].get<double>()
                                      : x <= range["at_most"].get<double>();
}

bool same(const Json& a, const Json& b) {
    if (a.is_number_float() || b.is_number_float()) {
        if (!a.is_number() || !b.is_number()) return false;
        const double x = a;
        const double y = b;
        return std::abs(x - y) <= tolerance * std::max(std::abs(x), std::abs(y));
    }
    if (a.is_number() && b.is_number()) return a.get<std::int64_t>() == b.get<std::int64_t>();
    return a == b;
}

const Json null_value;

const Json& member(const Json& object, const std::string& key) {
    return object.contains(key) ? object[key] : null_value;
}

}  // namespace

void compare(const Json& expected, const Json& got, const std::string& path, std::vector<std::string>& out) {
    if (is_range(expected)) {
        if (!in_range(expected, got))
            out.push_back(path + ": expected " + expected.dump() + ", got " + got.dump());
    } else if (expected.is_object() && got.is_object()) {
        for (const auto& [key, value] : expected.items())
            compare(value, member(got, key), path + "." + key, out);
    } else if (expected.is_array() && got.is_array() && expected.size() == got.size()) {
        for (std::size_t i = 0; i < expected.size(); ++i)
            compare(expected[i], got[i], path + "[" + std::to_string(i) + "]", out);
    } else if (!same(expected, got)) {
        out.push_back(path + ": expected " + expected.dump() + ", got " + got.dump());
    }
}

Json updated(const Json& expected, const Json& got) {
    if (is_range(expected)) return expected;
    if (expected.is_object() && got.is_object()) {
        Json result = expected;
        for (auto& [key, value] : result.items()) value = updated(value, member(got, key));
        return result;
    }
    if (expected.is_array() && got.is_array() && expected.size() == got.size()) {
        Json result = expected;
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = updated(expected[i], got[i]);
        return result;
    }
    return same(expected, got) ? expected : got;
}

std::string spaced(const Json& j) {
    std::string out;
    if (j.is_object()) {
        for (const auto& [key, value] : j.items())
            out += (out.empty() ? "" : ", ") + Json(key).dump() + ": " + spaced(value);
        return "{" + out + "}";
    }
    if (j.is_array()) {
        for (const Json& value : j) out += (out.empty() ? "" : ", ") + spaced(value);
        return "[" + out + "]";
    }
    return j.dump();
}

}  // namespace dynaplan::scenario
