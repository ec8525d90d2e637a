#include "wire/percent.hpp"

#include <array>
#include <cstddef>

namespace dynaplan::wire {

namespace {

constexpr std::string_view digits = "0123456789ABCDEF";

bool is_kept(char c, Kept kept) {
    const bool letter_or_digit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter_or_digit || (kept == Kept::letters_digits_dash_underscore && (c == '-' || c == '_'));
}

std::array<char, 3> escape_of(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return {'%', digits[byte >> 4U], digits[byte & 0x0fU]};
}

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

}  // namespace

std::string percent_encoded(std::string_view text, Kept kept) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (is_kept(c, kept)) {
            out += c;
        } else {
            const auto escape = escape_of(c);
            out.append(escape.data(), escape.size());
        }
    }
    return out;
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (text.size() - i < 3) return std::nullopt;
        const auto high = hex_digit(text[i + 1]);
        const auto low = hex_digit(text[i + 2]);
        if (!high || !low) return std::nullopt;
        out += static_cast<char>(static_cast<unsigned char>(*high << 4U | *low));
        i += 2;
    }
    return out;
}

bool is_percent_encoded_form(std::string_view encoded, std::string_view text, Kept kept) {
    for (const char c : text) {
        if (is_kept(c, kept)) {
            if (!encoded.starts_with(c)) return false;
            encoded.remove_prefix(1);
            continue;
        }
        const auto escape = escape_of(c);
        if (!encoded.starts_with(std::string_view{escape.data(), escape.size()})) return false;
        encoded.remove_prefix(escape.size());
    }
    return encoded.empty();
}

}  // namespace dynaplan::wire
