#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_fields.hpp"

namespace dynaplan::wire {
namespace {

DecodedFpm sample() {
    DecodedFpm message;
    message.fpm = test::sample_fpm();
    message.has_engine_key = true;
    return message;
}

std::string cause(const DecodedFpm& message) {
    const FpmResult admitted = admit(message);
    return admitted ? "" : std::string{to_string(admitted.error())};
}

TEST_CASE("admit: a report and a heartbeat are accepted") {
    CHECK(cause(sample()).empty());
    DecodedFpm heartbeat = sample();
    heartbeat.fpm.pass = ForwardPass{};
    CHECK(cause(heartbeat).empty());
}

TEST_CASE("admit: without an engine key, or with an empty worker id, a report has no place") {
    DecodedFpm message = sample();
    message.has_engine_key = false;
    CHECK(cause(message) == "no_engine_key");
    message = sample();
    message.fpm.worker_id.clear();
    CHECK(cause(message) == "empty_worker_id");
}

// Sets one number of the message, by its place in wire order; false when there is no such number.
bool set_number(DecodedFpm& message, std::size_t place, std::int64_t integer, double real) {
    std::size_t at = 0;
    Fpm& fpm = message.fpm;
    const auto visit = [&](std::string_view, auto& member, auto...) {
        if (at++ != place) return;
        if constexpr (std::is_same_v<std::remove_reference_t<decltype(member)>, double>) {
            member = real;
        } else {
            member = integer;
        }
    };
    visit("dp_rank", fpm.dp_rank);
    visit("counter_id", fpm.pass.counter_id);
    visit("wall_time", fpm.pass.wall_time);
    visit_fields(scheduled_fields, fpm.pass.scheduled, visit);
    visit_fields(queued_fields, fpm.pass.queued, visit);
    return place < at;
}
constexpr std::size_t numbers = 16;  // all but the version

TEST_CASE("admit: any number below zero is refused, -0.0 is not below zero") {
    for (std::size_t place = 0; place < numbers; ++place) {
        DecodedFpm message = sample();
        REQUIRE(set_number(message, place, -1, -1e-300));
        CHECK(cause(message) == "negative");
        message = sample();
        REQUIRE(set_number(message, place, 0, -0.0));
        CHECK(cause(message).empty());
    }
    DecodedFpm message = sample();
    CHECK_FALSE(set_number(message, numbers, 0, 0));
}

TEST_CASE("admit: any float that is not finite is refused") {
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        int floats = 0;
        for (std::size_t place = 0; place < numbers; ++place) {
            DecodedFpm message = sample();
            REQUIRE(set_number(message, place, 1, bad));
            if (cause(message) == "non_finite") ++floats;
        }
        CHECK(floats == 5);
    }
}

TEST_CASE("admit: any integer of 2^63 or more is out of range, not negative") {
    for (unsigned bit = dp_rank_bit; bit < 12; ++bit) {
        DecodedFpm message = sample();
        message.beyond_int64 = static_cast<std::uint16_t>(1U << bit);
        CHECK(cause(message) == "out_of_range");
    }
    DecodedFpm message = sample();
    message.fpm.pass.counter_id = -1;  // the bits of 2^64-1
    message.beyond_int64 = 1U << counter_id_bit;
    CHECK(cause(message) == "out_of_range");
}

TEST_CASE("admit: the tests run in the specification's order") {
    DecodedFpm message = sample();
    message.has_engine_key = false;
    message.fpm.worker_id.clear();
    message.fpm.pass.wall_time = std::nan("");
    message.fpm.dp_rank = -1;
    message.beyond_int64 = 1U << counter_id_bit;
    CHECK(cause(message) == "no_engine_key");
    message.has_engine_key = true;
    CHECK(cause(message) == "empty_worker_id");
    message.fpm.worker_id = "7";
    CHECK(cause(message) == "non_finite");
    message.fpm.pass.wall_time = 1.0;
    CHECK(cause(message) == "negative");
    message.fpm.dp_rank = 0;
    CHECK(cause(message) == "out_of_range");
}

TEST_CASE("errors: every cause has a name of its own") {
    std::set<std::string> names;
    for (int i = 0; i < fpm_error_count; ++i) names.emplace(to_string(static_cast<FpmError>(i)));
    CHECK(names.size() == fpm_error_count);
    CHECK(names.count("unknown") == 0);
}

}  // namespace
}  // namespace dynaplan::wire
