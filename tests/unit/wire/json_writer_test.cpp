#include "wire/json_writer.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace dynaplan::wire {

namespace {

std::string number(double v) {
    std::string out;
    append_json_number(out, v);
    return out;
}

std::string text(std::string_view v) {
    std::string out;
    append_json_text(out, v);
    return out;
}

}  // namespace

TEST_CASE("json writer: numbers are written in shortest round-trip form") {
    CHECK(number(5.0) == "5");
    CHECK(number(-5.0) == "-5");
    CHECK(number(0.0) == "0");
    CHECK(number(-0.0) == "-0.0");
    CHECK(number(100000.0) == "100000");
    CHECK(number(0.1) == "0.1");
    CHECK(number(0.0001) == "0.0001");
    CHECK(number(0.00001) == "1e-05");
    CHECK(number(1776800000.123456) == "1776800000.123456");
    CHECK(number(9007199254740991.0) == "9007199254740991");
    CHECK(number(9007199254740992.0) == "9007199254740992");
    CHECK(number(1e16) == "1e+16");
    CHECK(number(1e22) == "1e+22");
    CHECK(number(5e-324) == "5e-324");
    CHECK(number(1.7976931348623157e308) == "1.7976931348623157e+308");
}

TEST_CASE("json writer: each finite double reads back to itself") {
    double v = 1e-320;
    while (v < 1e300) {
        CHECK(std::strtod(number(v).c_str(), nullptr) == v);
        CHECK(std::strtod(number(-v).c_str(), nullptr) == -v);
        v *= 1.7320508;
    }
}

TEST_CASE("json writer: what is not finite becomes null") {
    CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "null");
    CHECK(number(std::numeric_limits<double>::infinity()) == "null");
    CHECK(number(-std::numeric_limits<double>::infinity()) == "null");
}

TEST_CASE("json writer: text is escaped, and bytes that are not UTF-8 are replaced") {
    CHECK(text("plain") == "\"plain\"");
    CHECK(text("a\"b\\c\n\t\r\b\f\x01") == R"("a\"b\\c\n\t\r\b\f\u0001")");
    CHECK(text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") == "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    CHECK(text("\x80x") == "\"\xef\xbf\xbdx\"");
    CHECK(text("\xc0\xaf") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");                  // overlong
    CHECK(text("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // a surrogate
    CHECK(text("\xe2\x82") == "\"\xef\xbf\xbd\xef\xbf\xbd\"");                  // cut off
    CHECK(text(std::string_view{"\0", 1}) == "\"\\u0000\"");
}

TEST_CASE("json writer: commas stand between values and nowhere else") {
    std::string out = "[1,2]\n";  // another document, left alone
    JsonWriter w{out};
    w.begin_object().key("a").begin_array().end_array().key("b").begin_object().end_object();
    w.key("c").begin_array().value(true).null().value(std::int64_t{-3}).value(0.5).begin_object();
    w.member("d", "e").end_object().raw("[]").end_array();
    w.member_or_null("f", std::optional<double>{}).member_if("g", std::optional<double>{});
    w.member_if("h", std::optional{1.0}).end_object();
    CHECK(out ==
          "[1,2]\n"
          R"({"a":[],"b":{},"c":[true,null,-3,0.5,{"d":"e"},[]],"f":null,"h":1})");
}

}  // namespace dynaplan::wire
