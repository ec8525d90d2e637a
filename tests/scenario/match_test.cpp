// The comparison that every scenario stands on has to be able to fail.
#include "scenario/match.hpp"

#include <doctest/doctest.h>

using namespace dynaplan::scenario;

namespace {

std::size_t differences(const char* expected, const char* got) {
    std::vector<std::string> out;
    compare(Json::parse(expected), Json::parse(got), "x", out);
    return out.size();
}

}  // namespace

TEST_SUITE("scenario") {
    TEST_CASE("match: only named keys are compared, null is also absent") {
        CHECK(differences(R"({"a": 1})", R"({"a": 1, "b": 2})") == 0);
        CHECK(differences(R"({"a": 1})", R"({"a": 2})") == 1);
        CHECK(differences(R"({"a": null})", R"({})") == 0);
        CHECK(differences(R"({"a": null})", R"({"a": 0})") == 1);
        CHECK(differences(R"({"a": 1})", R"({})") == 1);
        CHECK(differences(R"({"a": 1})", "null") == 1);
    }

    TEST_CASE("match: lists have the same length, whole numbers are equal, others to a relative 1e-9") {
        CHECK(differences("[1, 2]", "[1, 2]") == 0);
        CHECK(differences("[1, 2]", "[1]") == 1);
        CHECK(differences("[]", R"([{"a": 1}])") == 1);
        CHECK(differences("9007199254740992", "9007199254740993") == 1);
        CHECK(differences("1.0000000001", "1.0") == 0);
        CHECK(differences("1.00000001", "1.0") == 1);
        CHECK(differences("0.0", "1e-300") == 1);
        CHECK(differences(R"("1")", "1") == 1);
    }

    TEST_CASE("match: ranges") {
        CHECK(differences(R"({"between": [1, 2]})", "2") == 0);
        CHECK(differences(R"({"between": [1, 2]})", "2.1") == 1);
        CHECK(differences(R"({"at_least": 1})", "0.5") == 1);
        CHECK(differences(R"({"at_most": 1})", "1") == 0);
        CHECK(differences(R"({"at_most": 1})", "null") == 1);
    }

    TEST_CASE("match: what came takes the place of what was expected, ranges stay") {
        const Json expected = Json::parse(R"({"a": 1, "b": {"at_least": 5}, "c": [1, {"d": 2}]})");
        const Json got = Json::parse(R"({"a": 7, "b": 1, "c": [1, {"d": 3, "e": 4}], "f": 9})");
        CHECK(spaced(updated(expected, got)) == R"({"a": 7, "b": {"at_least": 5}, "c": [1, {"d": 3}]})");
    }
}
