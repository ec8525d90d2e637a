#include "core/reasons.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>

using namespace dynaplan;

TEST_CASE("reasons: every name leads back to its reason") {
    for (int i = 0; i < reason_count; ++i) {
        const auto reason = static_cast<Reason>(i);
        CAPTURE(to_string(reason));
        CHECK(reason_from(to_string(reason)) == reason);
    }
}

TEST_CASE("reasons: no two share a name") {
    std::set<std::string_view> names;
    for (int i = 0; i < reason_count; ++i) names.insert(to_string(static_cast<Reason>(i)));
    CHECK(names.size() == static_cast<std::size_t>(reason_count));
}

TEST_CASE("reasons: names are snake_case words, since they become labels of metrics") {
    for (int i = 0; i < reason_count; ++i) {
        const std::string_view name = to_string(static_cast<Reason>(i));
        CAPTURE(name);
        CHECK_FALSE(name.empty());
        CHECK(std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) || c == '_'; }));
    }
}

TEST_CASE("reasons: an unknown name is no reason") {
    for (const std::string_view name : {"", "scale_sideways", "SCALE_UP", "scale_up ", "scale_"}) {
        CAPTURE(name);
        CHECK_FALSE(reason_from(name).has_value());
    }
}

// The enumerators and the table of names are two lists: these pin both ends of each group.
TEST_CASE("reasons: names belong to their enumerators") {
    CHECK(to_string(Reason::disabled) == "disabled");
    CHECK(to_string(Reason::worker_count_mismatch) == "worker_count_mismatch");
    CHECK(to_string(Reason::scale_down_capped_by_throughput) == "scale_down_capped_by_throughput");
    CHECK(to_string(Reason::set_lower_bound) == "set_lower_bound");
    CHECK(to_string(Reason::scale) == "scale");
    CHECK(to_string(Reason::traffic_unknown) == "traffic_unknown");
    CHECK(to_string(Reason::budget_capped) == "budget_capped");
    CHECK(to_string(Reason::store_unavailable) == "store_unavailable");
    CHECK(to_string(Reason::input_not_finite) == "input_not_finite");
}
