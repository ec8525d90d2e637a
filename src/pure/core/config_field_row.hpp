// How a row of the table is made from a path of member pointers: row<&PlannerConfig::policy,
// &Policy::trigger>. The member's type gives the field's type, its values and both accessors, so that a row
// cannot disagree with the struct. Used by the tables only.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/assert.hpp"
#include "core/config_field.hpp"

namespace dynaplan::fields {

// The written names of an enum, in its order; specialised beside the table that uses it.
template <class E>
struct Names;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

template <class T>
constexpr FieldType type_of() {
    if constexpr (std::is_same_v<T, bool>) return FieldType::boolean;
    if constexpr (std::is_enum_v<T>) return FieldType::enumeration;
    if constexpr (std::is_same_v<T, std::string>) return FieldType::text;
    if constexpr (std::is_integral_v<T>) return FieldType::integer;
    return FieldType::number;
}

template <class T>
FieldValue to_value(const T& v, FieldType as) {
    if constexpr (is_optional<T>) {
        return v ? to_value(*v, as) : FieldValue{};
    } else if constexpr (is_duration<T>) {
        if (as == FieldType::integer) return static_cast<std::int64_t>(v.count());
        return v.count();
    } else if constexpr (std::is_enum_v<T>) {
        return std::string{Names<T>::list[static_cast<std::size_t>(v)]};
    } else {
        return v;
    }
}

template <class T>
void from_value(T& v, const FieldValue& value) {
    if constexpr (is_optional<T>) {
        if (std::holds_alternative<std::monostate>(value)) {
            v.reset();
        } else {
            from_value(v.emplace(), value);
        }
    } else if constexpr (is_duration<T>) {
        const auto* whole = std::get_if<std::int64_t>(&value);
        v = T{whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value)};
    } else if constexpr (std::is_enum_v<T>) {
        const auto& text = std::get<std::string>(value);
        for (std::size_t i = 0; i < Names<T>::list.size(); ++i) {
            if (Names<T>::list[i] == text) {
                v = static_cast<T>(i);
                return;
            }
        }
        DYNAPLAN_ASSERT(false);  // coerce() lets no other text through
    } else {
        v = std::get<T>(value);
    }
}

// c.*first.*rest...
template <auto first, auto... rest, class C>
constexpr auto& member(C& c) {
    if constexpr (sizeof...(rest) == 0) {
        return c.*first;
    } else {
        return member<rest...>(c.*first);
    }
}

// What the member's type cannot tell. `whole` keeps a duration to whole units, as Dynamo's intervals are.
struct Traits {
    std::vector<std::string_view> aliases{};
    std::string_view unit{};
    std::optional<double> minimum{};
    bool above_minimum = false;
    std::optional<double> maximum{};
    std::vector<std::string_view> not_yet{};
    std::string_view missing{};
    std::string_view zero_word{};
    bool while_running = false;
    bool secret = false;
    std::string_view environment{};
    bool whole = false;
};

template <class Config, auto... path>
FieldOf<Config> row_of(std::string_view section, std::string_view name, Traits traits,
                       std::string_view help) {
    using T = std::remove_cvref_t<decltype(member<path...>(std::declval<Config&>()))>;
    FieldOf<Config> row;
    row.section = section;
    row.name = name;
    row.help = help;
    row.nullable = is_optional<T>;
    if constexpr (is_optional<T>) {
        row.type = type_of<typename T::value_type>();
    } else {
        row.type = type_of<T>();
    }
    if constexpr (std::is_enum_v<T>) row.values.assign(Names<T>::list.begin(), Names<T>::list.end());
    if (traits.whole) row.type = FieldType::integer;
    row.aliases = std::move(traits.aliases);
    row.unit = traits.unit;
    row.minimum = traits.minimum;
    row.above_minimum = traits.above_minimum;
    row.maximum = traits.maximum;
    row.not_yet = std::move(traits.not_yet);
    row.missing = traits.missing;
    row.zero_word = traits.zero_word;
    row.while_running = traits.while_running;
    row.secret = traits.secret;
    row.environment = traits.environment;
    if (traits.whole) {
        row.get = [](const Config& c) { return to_value(member<path...>(c), FieldType::integer); };
    } else {
        row.get = [](const Config& c) { return to_value(member<path...>(c), FieldType::number); };
    }
    row.set = [](Config& c, const FieldValue& v) { from_value(member<path...>(c), v); };
    return row;
}

template <auto... path>
Field row(std::string_view section, std::string_view name, Traits traits, std::string_view help) {
    return row_of<PlannerConfig, path...>(section, name, std::move(traits), help);
}

// The parts of the planner's table; planner_fields() joins them.
std::vector<Field> top_level_rows();
std::vector<Field> policy_rows();
std::vector<Field> capability_rows();

}  // namespace dynaplan::fields
