// A JSON document read by its places: what is missing or of another type is told with the path to it,
// "ticks[3].in.traffic.isl: must be a number, ...". Internal to .cpp files, since it includes the library.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/field_value.hpp"

namespace dynaplan::replay {

// What is wrong, with its place; never leaves the .cpp file that reads.
class Malformed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Containers are not written out: they may be large, or nested without end.
inline std::string shown(const nlohmann::json& v) {
    constexpr std::size_t most = 60;
    if (v.is_object()) return "an object";
    if (v.is_array()) return "a list";
    std::string text = v.dump(-1, ' ', true);
    if (text.size() > most) text.replace(most, std::string::npos, "...");
    return text;
}

// A value of the file and the way to it: each read either gives the type that is wanted or throws Malformed.
// Each step refers to the one before, which must stay: the path is put together only when something is wrong.
class At {
public:
    explicit At(const nlohmann::json& root) : value_{&root} {}

    // A member that must be there.
    [[nodiscard]] At member(std::string_view name) const& {
        const At there{this, name, 0, lookup(name)};
        if (there.value_ == nullptr) there.fail("is missing");
        return there;
    }
    At member(std::string_view) const&& = delete;
    // A member that may be absent, or null.
    [[nodiscard]] std::optional<At> find(std::string_view name) const& {
        const nlohmann::json* value = lookup(name);
        if (value == nullptr || value->is_null()) return std::nullopt;
        return At{this, name, 0, value};
    }
    std::optional<At> find(std::string_view) const&& = delete;
    [[nodiscard]] bool has(std::string_view name) const { return lookup(name) != nullptr; }

    [[nodiscard]] At item(std::size_t index) const& { return {this, {}, index, &(*value_)[index]}; }
    At item(std::size_t) const&& = delete;
    [[nodiscard]] std::size_t list_size() const {
        if (!value_->is_array()) wrong("a list");
        return value_->size();
    }
    void require_size(std::size_t size, const char* what) const {
        if (!value_->is_array() || value_->size() != size) wrong(what);
    }

    // A number, or one of the texts that stand for the doubles that JSON lacks.
    [[nodiscard]] double number() const {
        if (value_->is_number()) return value_->get<double>();
        if (*value_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
        if (*value_ == "Infinity") return std::numeric_limits<double>::infinity();
        if (*value_ == "-Infinity") return -std::numeric_limits<double>::infinity();
        wrong(R"(a number, "NaN", "Infinity" or "-Infinity")");
    }
    // Counts are 64-bit integers; a whole number written as a float is one too.
    [[nodiscard]] std::int64_t whole() const {
        constexpr double beyond = 9223372036854775808.0;  // 2^63
        if (value_->is_number_unsigned()) {
            const auto n = value_->get<std::uint64_t>();
            if (n <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                return static_cast<std::int64_t>(n);
        } else if (value_->is_number_integer()) {
            return value_->get<std::int64_t>();
        } else if (value_->is_number_float()) {
            const auto x = value_->get<double>();
            if (std::trunc(x) == x && x >= -beyond && x < beyond) return static_cast<std::int64_t>(x);
        }
        wrong("a whole number below 2^63");
    }
    [[nodiscard]] bool flag() const {
        if (!value_->is_boolean()) wrong("true or false");
        return value_->get<bool>();
    }
    [[nodiscard]] std::string text() const {
        if (!value_->is_string()) wrong("a text");
        return value_->get<std::string>();
    }
    [[nodiscard]] const nlohmann::json& object() const {
        if (!value_->is_object()) wrong("an object");
        return *value_;
    }
    [[nodiscard]] FieldValue field_value() const {
        if (value_->is_null()) return std::monostate{};
        if (value_->is_boolean()) return flag();
        if (value_->is_number_integer()) return whole();
        if (value_->is_number()) return value_->get<double>();
        return text();
    }

    [[noreturn]] void fail(const std::string& what) const { throw Malformed{path() + ": " + what}; }
    [[noreturn]] void wrong(const char* wanted) const {
        fail("must be " + std::string{wanted} + ", not " + shown(*value_));
    }

private:
    At(const At* parent, std::string_view name, std::size_t index, const nlohmann::json* value)
        : parent_{parent}, name_{name}, index_{index}, value_{value} {}

    [[nodiscard]] const nlohmann::json* lookup(std::string_view name) const {
        const auto found = object().find(name);
        return found == value_->end() ? nullptr : &*found;
    }
    [[nodiscard]] std::string path() const {
        if (parent_ == nullptr) return "the file";
        std::string path = parent_->parent_ == nullptr ? "" : parent_->path();
        if (name_.empty()) return path + "[" + std::to_string(index_) + "]";
        if (!path.empty()) path += '.';
        return path.append(name_);
    }

    const At* parent_ = nullptr;
    std::string_view name_;  // empty: an item of a list
    std::size_t index_ = 0;
    const nlohmann::json* value_;
};

}  // namespace dynaplan::replay
