#include "check_vectors/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

// 2^63 and 2^64 as doubles, both exact.
constexpr double two_63 = 9223372036854775808.0;
constexpr double two_64 = 18446744073709551616.0;

bool same_integers(const json& a, const json& b) {
    const bool a_unsigned = a.is_number_unsigned();
    const bool b_unsigned = b.is_number_unsigned();
    if (a_unsigned && b_unsigned) return a.get<std::uint64_t>() == b.get<std::uint64_t>();
    if (!a_unsigned && !b_unsigned) return a.get<std::int64_t>() == b.get<std::int64_t>();
    const std::int64_t with_sign = a_unsigned ? b.get<std::int64_t>() : a.get<std::int64_t>();
    const std::uint64_t without = a_unsigned ? a.get<std::uint64_t>() : b.get<std::uint64_t>();
    return with_sign >= 0 && static_cast<std::uint64_t>(with_sign) == without;
}

bool integer_is(const json& integer, double value) {
    if (!(value >= -two_63 && value < two_64) || value != std::trunc(value)) return false;
    if (value < 0)
        return !integer.is_number_unsigned() &&
               integer.get<std::int64_t>() == static_cast<std::int64_t>(value);
    return same_integers(integer, json(static_cast<std::uint64_t>(value)));
}

bool same_doubles(double a, double b, const Tolerance& tolerance) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b) return true;
    if (!std::isfinite(a) || !std::isfinite(b)) return false;
    const double allowed =
        std::max(tolerance.relative * std::max(std::fabs(a), std::fabs(b)), tolerance.absolute);
    return std::fabs(a - b) <= allowed;
}

bool same_numbers(const json& a, const json& b, const Tolerance& tolerance) {
    if (a.is_number_integer() && b.is_number_integer()) return same_integers(a, b);
    const std::optional<double> x = as_double(a);
    const std::optional<double> y = as_double(b);
    if (!x || !y) return false;
    if (tolerance.relative == 0.0 && tolerance.absolute == 0.0) {
        if (a.is_number_integer()) return integer_is(a, *y);
        if (b.is_number_integer()) return integer_is(b, *x);
    }
    return same_doubles(*x, *y, tolerance);
}

}  // namespace

std::optional<double> as_double(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
}

bool same(const json& expected, const json& got, const Tolerance& tolerance) {
    if (expected.is_string() && got.is_string()) return expected == got;
    if (expected.is_number() || got.is_number()) return same_numbers(expected, got, tolerance);
    if (expected.type() != got.type()) return false;
    if (expected.is_array()) {
        return std::equal(expected.begin(), expected.end(), got.begin(), got.end(),
                          [&](const json& a, const json& b) { return same(a, b, tolerance); });
    }
    if (expected.is_object()) {
        if (expected.size() != got.size()) return false;
        return std::all_of(expected.items().begin(), expected.items().end(), [&](const auto& member) {
            const auto other = got.find(member.key());
            return other != got.end() && same(member.value(), *other, tolerance);
        });
    }
    return expected == got;
}

json json_of(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

std::string shown(const json& value) {
    constexpr std::size_t longest = 400;
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() <= longest) return text;
    return text.substr(0, longest / 2) + " ... " + text.substr(text.size() - longest / 2);
}

}  // namespace dynaplan::check_vectors
