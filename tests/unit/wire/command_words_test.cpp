// A container's arguments as words (connectors specification 2.5).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "wire/command_words.hpp"

namespace dynaplan::wire {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("words: blanks separate, quotes join, nothing is expanded") {
    CHECK(shell_words("") == Words{});
    CHECK(shell_words(" \t\n\r") == Words{});
    CHECK(shell_words("  a b\tc\nd ") == Words{"a", "b", "c", "d"});
    CHECK(shell_words(R"(a'b c'd "e f")") == Words{"ab cd", "e f"});
    CHECK(shell_words(R"('' "" a)") == Words{"", "", "a"});
    CHECK(shell_words("$HOME `x` *.py #no comment") == Words{"$HOME", "`x`", "*.py", "#no", "comment"});
}

TEST_CASE("words: a backslash escapes anything outside quotes, and two characters inside double quotes") {
    CHECK(shell_words(R"(a\ b \" \')") == Words{"a b", "\"", "'"});
    CHECK(shell_words(R"("a\"b\\c\d")") == Words{R"(a"b\c\d)"});
    CHECK(shell_words(R"('a\b')") == Words{R"(a\b)"});
}

TEST_CASE("words: an open quote or a lone backslash at the end is no list of words") {
    for (const char* text : {"'", "\"", "a 'b", "a \"b", "a\\", "\"a\\\"", "'a\\'b'"}) {
        CAPTURE(text);
        CHECK_FALSE(shell_words(text));
    }
}

TEST_CASE("flag: the last occurrence counts, in either form, and a flag at the end has no value") {
    CHECK(flag_value({"--model", "a"}, "--model") == "a");
    CHECK(flag_value({"--model=a"}, "--model") == "a");
    CHECK(flag_value({"--model", "a", "--model=b"}, "--model") == "b");
    CHECK(flag_value({"--model=b", "--model", "a"}, "--model") == "a");
    CHECK(flag_value({"--model", "a", "--model"}, "--model") == "a");
    CHECK(flag_value({"--model="}, "--model") == "");
    CHECK_FALSE(flag_value({"--model"}, "--model"));
    CHECK_FALSE(flag_value({"--models", "a", "--model-name=b"}, "--model"));
    CHECK_FALSE(flag_value({}, "--model"));
}

TEST_CASE("model: the served name, then the name, then the model") {
    CHECK(model_of_arguments({"--model", "c", "--model-name", "b", "--served-model-name", "a"}) == "a");
    CHECK(model_of_arguments({"--model", "c", "--model-name", "b"}) == "b");
    CHECK(model_of_arguments({"--model=Org/Model"}) == "Org/Model");
    CHECK(model_of_arguments({"--served-model-name=", "--model", "c"}) == "c");
    CHECK_FALSE(model_of_arguments({"--model", ""}));
    CHECK_FALSE(model_of_arguments({"python", "-m", "worker"}));
}

}  // namespace
}  // namespace dynaplan::wire
