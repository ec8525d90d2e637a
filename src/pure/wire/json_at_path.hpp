// Looking into JSON that others wrote, where everything may be absent, null or of another type: each question
// answers nothing then. Internal to .cpp files, since it includes nlohmann.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace dynaplan::wire {

// Discarded when the text is not one whole JSON value. A zero byte is never part of one; nlohmann takes it
// for the text's end and would not look at what follows.
inline nlohmann::json json_of(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) return nlohmann::json::value_t::discarded;
    return nlohmann::json::parse(text, nullptr, false);
}

// The value at a path of member names; null counts as absent.
inline const nlohmann::json* at_path(const nlohmann::json& root,
                                     std::initializer_list<std::string_view> names) {
    const nlohmann::json* value = &root;
    for (const std::string_view name : names) {
        if (!value->is_object()) return nullptr;
        const auto member = value->find(name);
        if (member == value->end()) return nullptr;
        value = &*member;
    }
    return value->is_null() ? nullptr : value;
}

inline std::optional<std::string> text_at(const nlohmann::json& root,
                                          std::initializer_list<std::string_view> names) {
    const nlohmann::json* value = at_path(root, names);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    return value->get_ref<const std::string&>();
}

// A JSON integer from 0 to 2^64-1: no fraction, no exponent, never through a double.
inline std::optional<std::uint64_t> unsigned_at(const nlohmann::json& root,
                                                std::initializer_list<std::string_view> names) {
    const nlohmann::json* value = at_path(root, names);
    if (value == nullptr || !value->is_number_integer()) return std::nullopt;
    if (!value->is_number_unsigned() && value->get<std::int64_t>() < 0) return std::nullopt;
    return value->get<std::uint64_t>();
}

// The same up to 2^63-1, which is what a count can be.
inline std::optional<std::int64_t> count_at(const nlohmann::json& root,
                                            std::initializer_list<std::string_view> names) {
    const auto value = unsigned_at(root, names);
    if (!value || *value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*value);
}

}  // namespace dynaplan::wire
