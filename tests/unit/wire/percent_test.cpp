// Percent encoding in subjects, channel keys and file names (event-plane specification 4.1, 7.6).
#include <doctest/doctest.h>

#include <string>

#include "wire/percent.hpp"

namespace dynaplan::wire {
namespace {

constexpr Kept in_subjects = Kept::letters_digits_dash_underscore;
constexpr Kept in_files = Kept::letters_digits;

TEST_CASE("percent encoding: two sets of bytes are kept, every other byte becomes upper-case hex") {
    std::string every;
    std::string kept_in_subjects;
    std::string kept_in_files;
    for (int i = 0; i < 256; ++i) {
        const auto c = static_cast<char>(i);
        every += c;
        if (percent_encoded({&c, 1}, in_subjects).size() == 1) kept_in_subjects += c;
        if (percent_encoded({&c, 1}, in_files).size() == 1) kept_in_files += c;
    }
    CHECK(kept_in_subjects == "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz");
    CHECK(kept_in_files == "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    for (const Kept kept : {in_subjects, in_files}) {
        const std::string encoded = percent_encoded(every, kept);
        CHECK(percent_decoded(encoded) == every);
        CHECK(is_percent_encoded_form(encoded, every, kept));
    }
    CHECK(percent_encoded(std::string{"\0\x0a\xab\xff", 4}, in_subjects) == "%00%0A%AB%FF");
}

TEST_CASE("percent encoding: hex of either case is read, and bytes that needed no escape") {
    CHECK(percent_decoded("%2e%2E") == "..");
    CHECK(percent_decoded("a.b/%61") == "a.b/a");
    CHECK(percent_decoded("") == "");
    CHECK(percent_decoded("%00") == std::string(1, '\0'));
}

TEST_CASE("percent encoding: a percent sign without two hex digits cannot be read") {
    for (const char* text : {"%", "a%", "%4", "%4g", "%g4", "% 4", "%-1", "%%41", "%+1"}) {
        CAPTURE(text);
        CHECK_FALSE(percent_decoded(text));
    }
}

TEST_CASE("percent encoding: only what would be written is the encoded form") {
    CHECK(is_percent_encoded_form("a%2Eb", "a.b", in_subjects));
    CHECK_FALSE(is_percent_encoded_form("a%2eb", "a.b", in_subjects));
    CHECK_FALSE(is_percent_encoded_form("a.b", "a.b", in_subjects));
    CHECK_FALSE(is_percent_encoded_form("%61%2Eb", "a.b", in_subjects));
    CHECK_FALSE(is_percent_encoded_form("a%2E", "a.b", in_subjects));
    CHECK_FALSE(is_percent_encoded_form("a%2Ebc", "a.b", in_subjects));
    CHECK_FALSE(is_percent_encoded_form("", "a", in_subjects));
    CHECK(is_percent_encoded_form("", "", in_subjects));
    CHECK(is_percent_encoded_form("-", "-", in_subjects));
    CHECK(is_percent_encoded_form("%2D", "-", in_files));
    CHECK_FALSE(is_percent_encoded_form("-", "-", in_files));
}

}  // namespace
}  // namespace dynaplan::wire
