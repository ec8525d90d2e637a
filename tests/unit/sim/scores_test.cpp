#include "sim/scores.hpp"

#include <doctest/doctest.h>

#include "sim/traffic_log.hpp"

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

Request done(double arrived, double first, double last, std::int64_t tokens) {
    Request r;
    r.arrived = at_seconds(arrived);
    r.first_token = at_seconds(first);
    r.last_token = at_seconds(last);
    r.isl = 100;
    r.osl = tokens;
    r.generated = tokens;
    return r;
}

}  // namespace

TEST_CASE("scores: attainment counts finished requests, and those that wait too long already") {
    Scorebook book{Millis{500}, Millis{50}};
    for (const double at : {0.0, 1.0, 2.0, 100.0}) book.arrived(at_seconds(at));
    book.finished(done(0.0, 0.25, 1.25, 21));    // 250 ms, 50 ms: both met
    book.finished(done(1.0, 1.75, 2.75, 101));   // 750 ms, 10 ms
    book.finished(done(2.0, 2.25, 12.25, 101));  // 250 ms, 100 ms
    const Scores s = book.scores(TimePoint{}, at_seconds(50), 1);
    CHECK(s.arrived == 3);
    CHECK(s.finished == 3);
    CHECK(s.overdue == 1);
    CHECK(s.ttft_attainment == doctest::Approx(0.5));
    CHECK(s.itl_attainment == doctest::Approx(2.0 / 3.0));
    CHECK(s.attainment == doctest::Approx(0.25));
    CHECK(s.ttft_median.count() == doctest::Approx(250));
    CHECK(s.itl_p95.count() == doctest::Approx(50));
    CHECK(book.scores(at_seconds(50), end_of_time, 0).attainment == 1.0);
}

TEST_CASE("scores: a reversal is a change of direction of one role within the window") {
    Scorebook book{Millis{500}, Millis{50}};
    const auto change = [&](double at, Role role, int from, int to) {
        book.target({at_seconds(at), role, Replicas{from}, Replicas{to}});
    };
    change(0, Role::decode, 1, 3);
    change(100, Role::prefill, 3, 2);  // another role
    change(200, Role::decode, 3, 4);   // the same direction
    change(700, Role::decode, 4, 3);   // reversed after 500 s
    change(1400, Role::decode, 3, 4);  // reversed after 700 s
    CHECK(book.reversals(Role::decode, Seconds{600}) == 1);
    CHECK(book.reversals(Role::decode, Seconds{700}) == 1);
    CHECK(book.reversals(Role::decode, Seconds{701}) == 2);
    CHECK(book.reversals(Role::prefill, Seconds{600}) == 0);
}

TEST_CASE("scores: GPU time and the largest number of GPUs") {
    Scorebook book{Millis{500}, Millis{50}};
    book.gpu_time(Gpus{2}, Seconds{10});
    book.gpu_time(Gpus{1}, Seconds{5});
    book.gpus_wanted(Gpus{3});
    book.gpus_wanted(Gpus{2});
    const Scores s = book.scores(TimePoint{}, end_of_time, 0);
    CHECK(s.gpu_time.count() == doctest::Approx(25));
    CHECK(s.gpus_most == Gpus{3});
}

TEST_CASE("traffic log: a window counts arrivals, open on the left and closed on the right") {
    TrafficLog log;
    for (const double at : {10.0, 20.0, 30.0}) log.arrived(done(at, at, at, 10));
    const auto w = log.window(at_seconds(30), Seconds{20}, 0.0);
    REQUIRE(w.is_known());
    CHECK(w.value().num_req == 2.0);
    CHECK(w.value().isl == 100.0);
    CHECK(w.value().osl == 10.0);
    CHECK(w.value().duration == Seconds{20});
    CHECK_FALSE(w.value().kv_hit_rate);
    CHECK_FALSE(w.value().ttft);
    CHECK(log.window(at_seconds(30), Seconds{21}, 0.25).value().kv_hit_rate == 0.25);
    CHECK(log.window(at_seconds(60), Seconds{20}, 0.0).is_idle());
}

TEST_CASE("traffic log: latencies are means over what finished in the window") {
    TrafficLog log;
    log.arrived(done(0.0, 0.0, 0.0, 11));
    log.finished(done(0.0, 0.1, 1.1, 11));
    log.finished(done(0.0, 0.3, 2.3, 11));
    const auto w = log.window(at_seconds(3), Seconds{10}, 0.0);
    REQUIRE(w.is_known());
    CHECK(w.value().ttft->count() == doctest::Approx(200));
    CHECK(w.value().itl->count() == doctest::Approx(150));
}
