// Values: from the written form to the type of a field, and back to text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "core/config_field.hpp"

namespace dynaplan {
namespace {

std::string_view trimmed(std::string_view s) {
    const auto first = s.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1);
}

// Long or unprintable text is shown cut and cleaned: an error message is one line.
std::string quoted(std::string_view s) {
    constexpr std::size_t shown_max = 60;
    std::string out = "\"";
    for (const char c : s.substr(0, shown_max)) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
    if (s.size() > shown_max) out += "...";
    return out + '"';
}

std::string joined(const std::vector<std::string_view>& words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
        out += words[i];
    }
    return out;
}

template <class T>
std::optional<T> parsed(std::string_view text) {
    text = trimmed(text);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    T v{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
    return v;
}

// YAML hands every plain word over as text: a number is shown as it was written, a word in quotes.
std::string shown(const FieldValue& v) {
    const auto* text = std::get_if<std::string>(&v);
    if (text == nullptr) return text_of(v);
    const auto word = trimmed(*text);
    return word.size() < 40 && parsed<double>(word) ? std::string{word} : quoted(*text);
}

std::optional<bool> boolean_of(const FieldValue& v) {
    if (const auto* b = std::get_if<bool>(&v)) return *b;
    if (const auto* i = std::get_if<std::int64_t>(&v)) {
        return *i == 0 || *i == 1 ? std::optional{*i == 1} : std::nullopt;
    }
    if (const auto* d = std::get_if<double>(&v)) {
        return *d == 0.0 || *d == 1.0 ? std::optional{*d == 1.0} : std::nullopt;
    }
    const auto* text = std::get_if<std::string>(&v);
    if (text == nullptr) return std::nullopt;
    std::string word{trimmed(*text)};
    std::ranges::transform(word, word.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    for (const std::string_view yes : {"true", "yes", "on", "1", "t", "y"}) {
        if (word == yes) return true;
    }
    for (const std::string_view no : {"false", "no", "off", "0", "f", "n"}) {
        if (word == no) return false;
    }
    return std::nullopt;
}

std::optional<double> number_of(const FieldValue& v) {
    if (const auto* i = std::get_if<std::int64_t>(&v)) return static_cast<double>(*i);
    if (const auto* d = std::get_if<double>(&v)) return *d;
    if (const auto* text = std::get_if<std::string>(&v)) return parsed<double>(*text);
    return std::nullopt;
}

// Below 2^53 in magnitude a double holds every whole number; 2^63 is the first that an int64 does not.
std::optional<std::int64_t> integer_of(const FieldValue& v) {
    if (const auto* i = std::get_if<std::int64_t>(&v)) return *i;
    if (const auto* text = std::get_if<std::string>(&v)) {
        if (const auto whole = parsed<std::int64_t>(*text)) return whole;
    }
    const auto d = number_of(v);
    if (!d || *d != std::floor(*d) || *d < -0x1p63 || *d >= 0x1p63) return std::nullopt;
    return static_cast<std::int64_t>(*d);
}

// 1000000000, not 1e+09.
std::string bound_text(double bound) {
    if (bound == std::floor(bound) && std::abs(bound) < 0x1p53)
        return text_of(static_cast<std::int64_t>(bound));
    return text_of(bound);
}

std::optional<std::string> outside(const FieldInfo& f, double v, const std::string& as_written) {
    if (!std::isfinite(v)) return "must be finite, not " + as_written;
    if (f.minimum && (f.above_minimum ? v <= *f.minimum : v < *f.minimum)) {
        return std::string{"must be "} + (f.above_minimum ? "above " : "at least ") + bound_text(*f.minimum) +
               ", not " + as_written;
    }
    if (f.maximum && v > *f.maximum) {
        return "must be at most " + bound_text(*f.maximum) + ", not " + as_written;
    }
    return std::nullopt;
}

Result<FieldValue> coerce_enumeration(const FieldInfo& f, const FieldValue& v) {
    const auto* text = std::get_if<std::string>(&v);
    if (text == nullptr) return failure("must be " + joined(f.values) + ", not " + shown(v));
    if (std::ranges::find(f.values, *text) != f.values.end()) return v;
    if (std::ranges::find(f.not_yet, *text) != f.not_yet.end()) {
        return failure(*text + " does not exist in Dynaplan yet: use " + joined(f.values));
    }
    std::string message = "must be " + joined(f.values) + ", not " + quoted(*text);
    const std::vector<std::string> candidates(f.values.begin(), f.values.end());
    if (const auto near = nearest_name(*text, candidates); !near.empty()) {
        message += "; did you mean " + near + "?";
    }
    return failure(message);
}

// YAML reads `off` as false, and so do programs that turn YAML into JSON.
bool is_zero_word(const FieldInfo& f, const FieldValue& v) {
    if (f.zero_word.empty()) return false;
    if (const auto* text = std::get_if<std::string>(&v)) return *text == f.zero_word;
    const auto* b = std::get_if<bool>(&v);
    return f.zero_word == "off" && b != nullptr && !*b;
}

std::string wanted(const FieldInfo& f, std::string_view kind) {
    std::string out = "must be " + std::string{kind};
    if (!f.zero_word.empty()) out += " or " + std::string{f.zero_word};
    return out;
}

Result<FieldValue> coerce_integer(const FieldInfo& f, const FieldValue& v) {
    if (is_zero_word(f, v)) return FieldValue{std::int64_t{0}};
    if (const auto whole = integer_of(v)) {
        if (const auto wrong = outside(f, static_cast<double>(*whole), text_of(*whole)))
            return failure(*wrong);
        return FieldValue{*whole};
    }
    // A whole number beyond 64 bits is out of bounds, not of the wrong type.
    if (const auto d = number_of(v); d && (std::abs(*d) >= 0x1p63 || !std::isfinite(*d))) {
        if (const auto wrong = outside(f, *d, shown(v))) return failure(*wrong);
    }
    return failure(wanted(f, "a whole number") + ", not " + shown(v));
}

Result<FieldValue> coerce_number(const FieldInfo& f, const FieldValue& v) {
    if (is_zero_word(f, v)) return FieldValue{0.0};
    const auto d = number_of(v);
    if (!d) return failure(wanted(f, "a number") + ", not " + shown(v));
    if (const auto wrong = outside(f, *d, shown(v))) return failure(*wrong);
    return FieldValue{*d};
}

}  // namespace

std::string_view to_string(FieldType t) {
    switch (t) {
        case FieldType::boolean: return "boolean";
        case FieldType::integer: return "integer";
        case FieldType::number: return "number";
        case FieldType::text: return "text";
        case FieldType::enumeration: return "one of";
    }
    return "?";
}

Result<FieldValue> coerce(const FieldInfo& f, const FieldValue& v) {
    if (std::holds_alternative<std::monostate>(v)) {
        if (f.nullable) return v;
        return failure("must not be null");
    }
    switch (f.type) {
        case FieldType::boolean: {
            if (const auto b = boolean_of(v)) return FieldValue{*b};
            return failure("must be true or false, not " + shown(v));
        }
        case FieldType::integer: return coerce_integer(f, v);
        case FieldType::number: return coerce_number(f, v);
        case FieldType::enumeration: return coerce_enumeration(f, v);
        case FieldType::text: return FieldValue{text_of(v)};
    }
    return failure("has an unknown type");
}

std::string text_of(const FieldValue& v) {
    if (std::holds_alternative<std::monostate>(v)) return "null";
    if (const auto* b = std::get_if<bool>(&v)) return *b ? "true" : "false";
    if (const auto* text = std::get_if<std::string>(&v)) return *text;
    std::array<char, 40> buffer{};
    const auto write = [&buffer](auto number) {
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
        return std::string(buffer.data(), end);
    };
    if (const auto* i = std::get_if<std::int64_t>(&v)) return write(*i);
    return write(std::get<double>(v));
}

FieldValue written_form(const FieldInfo& f, const FieldValue& v) {
    if (f.zero_word.empty()) return v;
    const auto* i = std::get_if<std::int64_t>(&v);
    const auto* d = std::get_if<double>(&v);
    const bool zero = (i != nullptr && *i == 0) || (d != nullptr && *d == 0.0);
    return zero ? FieldValue{std::string{f.zero_word}} : v;
}

}  // namespace dynaplan
