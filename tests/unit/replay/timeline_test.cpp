#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "replay/timeline.hpp"
#include "trace_samples.hpp"

using namespace dynaplan;
using namespace dynaplan::replay;

namespace {

std::vector<double> times(const Timeline& timeline) {
    std::vector<double> out;
    Event e;
    for (std::size_t i = 0; i < timeline.size(); ++i) {
        timeline.event(i, e);
        out.push_back(seconds_of(e.at));
    }
    return out;
}

std::string worker(const Timeline& timeline, std::size_t i) {
    Event e;
    timeline.event(i, e);
    return std::get<FpmArrived>(e.body).fpm.worker_id;
}

}  // namespace

TEST_CASE("timeline: files are merged by time, and equal times keep the order of the files") {
    Recording r;
    r.begin_file("a");
    for (const int ms : {0, 200, 400}) r.take(record_at(ms, "backend", "1"), 1);
    r.begin_file("b");
    for (const int ms : {100, 200, 300}) r.take(record_at(ms, "backend", "2"), 1);
    const Timeline t{r, RoleTable{}, Mode::decode};
    CHECK(times(t) == std::vector{0.0, 0.1, 0.2, 0.2, 0.3, 0.4});
    CHECK(worker(t, 2) == "1");
    CHECK(worker(t, 3) == "2");
    CHECK(t.origin_ms() == start_ms);
    CHECK(t.late() == 0);
}

TEST_CASE(
    "timeline: two seconds of disorder are sorted, what is later is counted and taken at the time that is "
    "not past yet") {
    Recording r;
    r.begin_file("a");
    for (const int ms : {0, 3000, 1000, 500}) r.take(record_at(ms), 1);
    const Timeline t{r, RoleTable{}, Mode::decode};
    CHECK(times(t) == std::vector{0.0, 1.0, 1.0, 3.0});
    CHECK(t.late() == 1);
}

TEST_CASE("timeline: step-protocol lines count from the first report of all files") {
    Recording r;
    r.begin_file("lines");
    r.take_line(R"({"t":0.15,"event":"bus","connected":true})", 1);
    r.begin_file("b");
    r.take(record_at(5100), 1);
    r.begin_file("a");
    r.take(record_at(5000), 1);
    const Timeline t{r, RoleTable{}, Mode::decode};
    CHECK(times(t) == std::vector{0.0, 0.1, 0.15});
    CHECK(t.is_pass(1));
    CHECK_FALSE(t.is_pass(2));
}

TEST_CASE("timeline: a clock that jumped by years does not become years of ticks") {
    Recording r;
    r.begin_file("a");
    r.take(record_at(-1'000'000'000'000), 1);
    for (const int ms : {0, 100, 200}) r.take(record_at(ms), 2);
    r.take(record_at(9'000'000'000'000'000'000 - start_ms), 5);
    r.take_line(R"({"t":9e9,"event":"bus","connected":true})", 6);
    const Timeline t{r, RoleTable{}, Mode::decode};
    CHECK(times(t) == std::vector{0.0, 0.1, 0.2});
    CHECK(r.refusals().causes().find("time_jump")->second.count == 3);
}

TEST_CASE("timeline: what the mode has no role for is refused by cause") {
    Recording r;
    r.begin_file("a");
    r.take(record_at(0, "backend"), 1);
    r.take(record_at(1, "prefill"), 2);
    r.take(record_at(2, "other"), 3);
    RoleTable roles;
    const Timeline t{r, roles, Mode::decode};
    CHECK(t.passes() == 1);
    CHECK(r.refusals().total() == 2);
    CHECK(r.refusals().causes().contains("unknown_role: component 'other'"));
    CHECK(r.refusals().causes().contains("other_role: prefill in mode decode"));
}

TEST_CASE("recording: lines that cannot be used are kept with file, line and cause") {
    Recording r;
    r.begin_file("a.jsonl");
    r.take_line(R"({"t":0,"event":"tock"})", 17);
    r.take_line(R"({"t":0,"event":"published","proposal":0,"decision_id":0})", 18);
    wire::TraceRecord before_1970 = record_at(0);
    before_1970.observed_at_unix_ms = -5;
    r.take(before_1970, 19);
    CHECK(r.lines().empty());
    CHECK(r.passes().empty());
    const auto& places = r.refusals().causes().find("step_line")->second.places;
    REQUIRE(places.size() == 2);
    CHECK(places[0].file == "a.jsonl");
    CHECK(places[0].line == 17);
    CHECK(r.refusals().causes().find("out_of_range")->second.count == 1);
}
