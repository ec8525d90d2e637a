#include "wire/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

#include "wire/utf8.hpp"

namespace dynaplan::wire {

namespace {

// Integers up to here are exact as doubles.
constexpr double integral_max = 9007199254740992.0;

// Length of the valid UTF-8 sequence at the front of `s`, which begins with a byte beyond ASCII; 0 without
// one.
std::size_t utf8_length(std::string_view s) {
    for (std::size_t n = 2; n <= 4 && n <= s.size(); ++n) {
        if (is_utf8_beyond_ascii(s.substr(0, n))) return n;
    }
    return 0;
}

void append_escaped(std::string& out, unsigned char control) {
    switch (control) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: break;
    }
    constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u00";
    out += hex[control >> 4U];
    out += hex[control & 0xfU];
}

bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

}  // namespace

void append_json_number(std::string& out, std::int64_t v) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
    out.append(digits.data(), end);
}

void append_json_number(std::string& out, double v) {
    if (!std::isfinite(v)) {
        out += "null";
        return;
    }
    const double size = std::fabs(v);
    if (size < integral_max && v == std::trunc(v)) {
        if (v == 0.0 && std::signbit(v)) {
            out += "-0.0";
        } else {
            append_json_number(out, static_cast<std::int64_t>(v));
        }
        return;
    }
    // The range in which positional notation stays short.
    const auto form = size >= 1e-4 && size < 1e16 ? std::chars_format::fixed : std::chars_format::scientific;
    std::array<char, 40> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v, form).ptr;
    out.append(digits.data(), end);
}

void append_json_text(std::string& out, std::string_view text) {
    out += '"';
    std::size_t i = 0;
    while (i < text.size()) {
        std::size_t run = i;
        while (run < text.size() && is_plain(static_cast<unsigned char>(text[run]))) ++run;
        out.append(text, i, run - i);
        i = run;
        if (i == text.size()) break;
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x80) {
            append_escaped(out, c);
            ++i;
            continue;
        }
        const std::size_t n = utf8_length(text.substr(i));
        if (n == 0) {
            out += "\xef\xbf\xbd";
            ++i;
        } else {
            out.append(text, i, n);
            i += n;
        }
    }
    out += '"';
}

void JsonWriter::separate() {
    if (!first_) out_ += ',';
    first_ = false;
}

JsonWriter& JsonWriter::open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    out_ += bracket;
    first_ = false;
    return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
    separate();
    append_json_text(out_, name);
    out_ += ':';
    first_ = true;
    return *this;
}

JsonWriter& JsonWriter::null() { return raw("null"); }
JsonWriter& JsonWriter::value(bool v) { return raw(v ? "true" : "false"); }

JsonWriter& JsonWriter::value(std::int64_t v) {
    separate();
    append_json_number(out_, v);
    return *this;
}

JsonWriter& JsonWriter::value(double v) {
    separate();
    append_json_number(out_, v);
    return *this;
}

JsonWriter& JsonWriter::value(std::string_view v) {
    separate();
    append_json_text(out_, v);
    return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
}

}  // namespace dynaplan::wire
