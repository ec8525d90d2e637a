// Writes one JSON document by appending to a string: exact and byte-stable, since effects are compared byte
// for byte. Commas are placed by the writer; the caller calls key() before each member of an object.
//
// Numbers are in shortest round-trip form: an integral double below 2^53 is written as an integer (5, not
// 5.0), others with the fewest digits that read back to the same double, in positional notation from 1e-4 up
// to 1e16 and in exponent notation outside. Negative zero is written -0.0, so that a reader keeps its sign.
// A number that is not finite is written null. Text is UTF-8; each byte that is not part of valid UTF-8
// becomes U+FFFD.
//
// Nothing can fail. Any thread, one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dynaplan::wire {

class JsonWriter {
public:
    // `out` must outlive the writer. What it already holds stays, and is not part of the document.
    explicit JsonWriter(std::string& out) : out_{out} {}

    JsonWriter& begin_object() { return open('{'); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& begin_array() { return open('['); }
    JsonWriter& end_array() { return close(']'); }
    JsonWriter& key(std::string_view name);

    JsonWriter& null();
    JsonWriter& value(bool);
    JsonWriter& value(std::int64_t);
    JsonWriter& value(double);
    JsonWriter& value(std::string_view);
    JsonWriter& value(const char* text) { return value(std::string_view{text}); }
    // A value that is JSON text already.
    JsonWriter& raw(std::string_view json);

    // A member of the current object.
    template <class T>
    JsonWriter& member(std::string_view name, const T& v) {
        return key(name).value(v);
    }
    // A member that is null when empty, and one that is left out when empty.
    template <class T>
    JsonWriter& member_or_null(std::string_view name, const std::optional<T>& v) {
        key(name);
        return v ? value(*v) : null();
    }
    template <class T>
    JsonWriter& member_if(std::string_view name, const std::optional<T>& v) {
        return v ? member(name, *v) : *this;
    }

private:
    JsonWriter& open(char bracket);
    JsonWriter& close(char bracket);
    void separate();

    std::string& out_;
    bool first_ = true;  // no comma is due before the next value
};

// The number and text forms on their own.
void append_json_number(std::string& out, double);
void append_json_number(std::string& out, std::int64_t);
void append_json_text(std::string& out, std::string_view text);  // with its quotes

}  // namespace dynaplan::wire
