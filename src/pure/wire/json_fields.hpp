// The fields of one JSON object, read strictly: what the step protocol's reader is made of. Internal to .cpp
// files, since it includes simdjson.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "wire/json_nearest.hpp"

namespace dynaplan::wire {

using Names = std::span<const std::string_view>;

inline constexpr std::size_t fields_max = 10;
inline std::string_view kind_of(simdjson::dom::element e) {
    using simdjson::dom::element_type;
    switch (e.type()) {
        case element_type::ARRAY: return "an array";
        case element_type::OBJECT: return "an object";
        case element_type::INT64: return "an integer";
        case element_type::UINT64: return "an integer of 2^63 or more";
        case element_type::DOUBLE: return "a number with a fraction or exponent";
        case element_type::STRING: return "a string";
        case element_type::BOOL: return "true or false";
        case element_type::NULL_VALUE: return "null";
    }
    return "?";
}

// The fields of one object, each looked up by its place in a list of names. The first problem is kept and
// later ones are not looked for: read everything, then ask ok().
class Fields {
public:
    // `place` names the object in messages. Texts and the object must outlive this.
    Fields(std::string_view place, Names names) : place_{place}, names_{names} {}

    void take(simdjson::dom::object object) {
        std::size_t expected = 0;  // writers use one order: look there first
        for (const auto [key, value] : object) {
            std::size_t i = expected;
            if (i >= names_.size() || names_[i] != key) {
                const auto found = std::find(names_.begin(), names_.end(), key);
                i = static_cast<std::size_t>(found - names_.begin());
            }
            if (i == names_.size()) return fail(unknown_name("key", key, names_));
            if (has_[i]) return fail("repeated key " + in_quotes(key));
            has_[i] = true;
            values_[i] = value;
            expected = i + 1;
        }
    }

    [[nodiscard]] bool ok() const { return error_.empty(); }
    [[nodiscard]] std::string take_error() { return std::move(error_); }
    [[nodiscard]] bool known(std::size_t i) const { return has_[i] && !values_[i].is_null(); }
    [[nodiscard]] simdjson::dom::element value(std::size_t i) const { return values_[i]; }

    void fail(std::string_view what) {
        if (!error_.empty()) return;
        error_ = place_;
        error_ += ": ";
        error_ += what;
    }
    void fail_at(std::size_t i, std::string_view what) {
        if (!error_.empty()) return;
        error_ = place_;
        error_ += '.';
        error_ += names_[i];
        error_ += ": ";
        error_ += what;
    }

    bool require(std::size_t i) {
        if (!known(i)) fail_at(i, has_[i] ? "must not be null" : "is missing");
        return ok();
    }

    // Each of these answers nothing for an absent or null field, and fails on a wrong type or range.
    std::optional<double> number(std::size_t i) {
        if (!ok() || !known(i)) return std::nullopt;
        double v = 0.0;
        if (values_[i].is_number() && values_[i].get(v) == simdjson::SUCCESS && std::isfinite(v)) return v;
        wrong(i, "a finite number");
        return std::nullopt;
    }
    std::optional<double> amount(std::size_t i) {
        const auto v = number(i);
        if (v && *v < 0.0) fail_at(i, "must not be negative");
        return v;
    }
    std::optional<std::int64_t> count(std::size_t i) {
        if (!ok() || !known(i)) return std::nullopt;
        std::int64_t v = 0;
        if (values_[i].type() != simdjson::dom::element_type::INT64 ||
            values_[i].get(v) != simdjson::SUCCESS) {
            wrong(i, "an integer below 2^63");
            return std::nullopt;
        }
        if (v < 0) fail_at(i, "must not be negative");
        return v;
    }
    std::optional<bool> flag(std::size_t i) {
        if (!ok() || !known(i)) return std::nullopt;
        bool v = false;
        if (values_[i].get(v) == simdjson::SUCCESS) return v;
        wrong(i, "true or false");
        return std::nullopt;
    }
    std::optional<std::string_view> text(std::size_t i) {
        if (!ok() || !known(i)) return std::nullopt;
        std::string_view v;
        if (values_[i].get(v) == simdjson::SUCCESS) return v;
        wrong(i, "a string");
        return std::nullopt;
    }
    std::optional<simdjson::dom::object> object(std::size_t i) {
        if (!ok() || !known(i)) return std::nullopt;
        simdjson::dom::object v;
        if (values_[i].get(v) == simdjson::SUCCESS) return v;
        wrong(i, "an object");
        return std::nullopt;
    }
    // The place of a required text in a list of names.
    std::size_t choice(std::size_t i, std::string_view what, Names of) {
        require(i);
        const auto name = text(i);
        if (!name) return 0;
        const auto found = std::find(of.begin(), of.end(), *name);
        if (found == of.end()) {
            fail_at(i, unknown_name(what, *name, of));
            return 0;
        }
        return static_cast<std::size_t>(found - of.begin());
    }

private:
    void wrong(std::size_t i, std::string_view expected) {
        std::string what = "expected ";
        what += expected;
        what += ", got ";
        what += kind_of(values_[i]);
        fail_at(i, what);
    }

    std::string_view place_;
    Names names_;
    std::array<simdjson::dom::element, fields_max> values_{};
    std::array<bool, fields_max> has_{};
    std::string error_;
};

}  // namespace dynaplan::wire
