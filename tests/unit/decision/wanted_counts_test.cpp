#include "decision/wanted_counts.hpp"

#include <limits>

#include <doctest/doctest.h>

namespace dynaplan::decision {

TEST_CASE("wanted counts: zero is a count, a role that is not given is left alone") {
    CHECK(wanted_counts(0, std::nullopt).value() == WantedCounts{Replicas{0}, std::nullopt});
    CHECK(wanted_counts(std::nullopt, 7).value() == WantedCounts{std::nullopt, Replicas{7}});
    CHECK(wanted_counts(std::nullopt, std::nullopt).value() == WantedCounts{});
}

TEST_CASE("wanted counts: a negative count is refused, and named") {
    CHECK(wanted_counts(-1, 2).error().message == "wanted prefill replicas: -1 is negative; give 0 or more");
    CHECK(wanted_counts(2, -3).error().message == "wanted decode replicas: -3 is negative; give 0 or more");
}

TEST_CASE("wanted counts: one more and one less of what is remembered, whatever is discovered") {
    CHECK(one_more(Role::prefill, Replicas{3}, Replicas{9}) == WantedCounts{Replicas{4}, std::nullopt});
    CHECK(one_less(Role::decode, Replicas{3}, Replicas{9}) == WantedCounts{std::nullopt, Replicas{2}});
    CHECK(one_more(Role::decode, Replicas{0}, Replicas{9}) == WantedCounts{std::nullopt, Replicas{1}});
}

TEST_CASE("wanted counts: where nothing is remembered, of what is discovered") {
    CHECK(one_more(Role::prefill, std::nullopt, Replicas{2}) == WantedCounts{Replicas{3}, std::nullopt});
    CHECK(one_less(Role::decode, std::nullopt, Replicas{3}) == WantedCounts{std::nullopt, Replicas{2}});
}

TEST_CASE("wanted counts: never below zero, nor above the largest number") {
    constexpr Replicas most{std::numeric_limits<std::int64_t>::max()};
    CHECK(one_less(Role::prefill, Replicas{0}, Replicas{4}) == WantedCounts{Replicas{0}, std::nullopt});
    CHECK(one_less(Role::prefill, std::nullopt, Replicas{0}) == WantedCounts{Replicas{0}, std::nullopt});
    CHECK(one_more(Role::prefill, most, Replicas{0}) == WantedCounts{most, std::nullopt});
}

}  // namespace dynaplan::decision
