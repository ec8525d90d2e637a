// Step filter, scenario player and the feed of traces: what they say to what they are given.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "replay/scenario_player.hpp"
#include "replay/step_filter.hpp"
#include "replay/trace_feed.hpp"
#include "trace_samples.hpp"

using namespace dynaplan;
using namespace dynaplan::replay;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

Event traffic_at(double t) {
    return {
        at_seconds(t),
        TrafficObserved{Seconds{180.0}, Reading<Traffic>::known({Seconds{180.0}, 540.0, 1500.0, 200.0,
                                                                 std::nullopt, std::nullopt, std::nullopt})}};
}

}  // namespace

TEST_CASE("step: the answers do not depend on how the bytes were cut") {
    const std::string input =
        "{\"t\":0,\"event\":\"inventory\",\"role\":\"decode\",\"ready\":1,\"expected\":1}\n"
        "rubbish\n\n{\"t\":11,\"event\":\"tick\"}\n{\"t\":3,\"event\":\"tick\"}\n{\"t\":12,\"event\":"
        "\"tick\"}";
    std::string whole;
    StepFilter first{decode_config()};
    first.take(input, whole);
    first.finish(whole);
    CHECK(count(whole, "\"effect\":\"done\"") == 5);
    CHECK(count(whole, "\"effect\":\"error\"") == 2);
    CHECK(count(whole, "\"effect\":\"diagnostics\"") == 2);
    CHECK(first.refusals().total() == 2);
    for (std::size_t piece = 1; piece < 40; ++piece) {
        StepFilter filter{decode_config()};
        std::string out;
        for (std::size_t at = 0; at < input.size(); at += piece)
            filter.take(std::string_view{input}.substr(at, piece), out);
        filter.finish(out);
        CHECK(out == whole);
    }
}

TEST_CASE("step: a tick that restores a decision knows it, and its id is not given again") {
    StepFilter filter{decode_config()};
    std::string out;
    filter.take_line(
        R"({"t":0,"event":"decision_restored","decision_id":3,"decode":1,"state":"published","age_s":10})",
        out);
    filter.take_line(R"({"t":1,"event":"outcome","decision_id":3,"outcome":"acknowledged"})", out);
    CHECK(count(out, "error") == 0);
    filter.take_line(R"({"t":2,"event":"outcome","decision_id":4,"outcome":"acknowledged"})", out);
    CHECK(count(out, "never published") == 1);
    CHECK(filter.session().coordinator().next_id() == 4);
}

TEST_CASE("session: a tick at the very time of a decision's time-out runs it") {
    decision::CoordinatorConfig coordinator;
    coordinator.timeout = Seconds{60.0};
    StepFilter filter{decode_config(), coordinator};
    std::string out;
    filter.take_line(
        R"({"t":0,"event":"decision_restored","decision_id":3,"decode":1,"state":"published","age_s":0})",
        out);
    filter.take_line(R"({"t":60,"event":"tick"})", out);
    const decision::DecisionRecord* earlier = filter.session().coordinator().find(3);
    REQUIRE(earlier != nullptr);
    CHECK(earlier->state == DecisionState::timed_out);
}

TEST_CASE("traces: a traffic line that stands just before its question is the answer") {
    for (const double early : {0.12, 5.0}) {
        PlannerConfig config = decode_config();
        config.enable_throughput_scaling = true;
        Session session{config, Assume::acknowledged};
        RunReport report;
        EventFeed events{session, report, nullptr};
        TraceFeed feed{session, events};
        REQUIRE(feed.feed(Event{TimePoint{}, BusChanged{true}}));
        REQUIRE(feed.feed(traffic_at(180.0 - early)));
        REQUIRE(feed.feed(Event{at_seconds(181.0), BusChanged{true}}));
        REQUIRE(feed.feed(Event{at_seconds(190.0), BusChanged{true}}));
        REQUIRE(feed.finish());
        CHECK(report.throughput_ticks() == 1);
        const auto unknown = report.throughput_reasons()[static_cast<std::size_t>(Reason::traffic_unknown)];
        CHECK(unknown == (early > 2.0 ? 1 : 0));
    }
}

TEST_CASE("scenario: expectations name what came") {
    const std::vector<std::string> came{
        R"({"t":5,"effect":"scale_to","decision_id":0,"prefill":null,"decode":2,"reason":"scale_up","why":{"decode":{"ready":1}}})",
        R"({"t":5,"event":"published","proposal":0,"decision_id":0})",
        R"({"t":5,"effect":"diagnostics","estimated_itl_ms":61.25,"holds":[{"role":"decode","reason":"decision_pending"}]})",
        R"({"t":5,"effect":"error","message":"config.set: is missing"})"};
    const auto met = [&](const char* expectation) {
        const auto result = match_expectation(expectation, came);
        REQUIRE(result);
        return result->empty();
    };
    CHECK(met(R"({"scale_to":{"decode":2,"prefill":null,"why":{"decode":{"ready":1}}}})"));
    CHECK(met(
        R"({"scale_to":{"decode":{"between":[1,3]}},"no":["traffic_wanted","wake_at"],"published":{"decision_id":0}})"));
    CHECK(met(
        R"({"scale_to_all":[{"decode":2}],"holds":[{"reason":"decision_pending"}],"error":"is missing"})"));
    CHECK(met(R"({"diagnostics":{"estimated_itl_ms":61.2500000001}})"));
    CHECK_FALSE(met(R"({"scale_to":{"decode":3}})"));
    CHECK_FALSE(met(R"({"scale_to":{"decode":{"at_least":3}}})"));
    CHECK_FALSE(met(R"({"no":"scale_to"})"));
    CHECK_FALSE(met(R"({"wake_at":{}})"));
    CHECK_FALSE(met(R"({"scale_to_all":[{"decode":2},{"decode":3}]})"));
    CHECK_FALSE(met(R"({"holds":[]})"));
    CHECK_FALSE(met(R"({"error":"something else"})"));
    CHECK_FALSE(match_expectation(R"({"scale_tu":{}})", came));
    CHECK_FALSE(match_expectation("[]", came));
}

TEST_CASE("scenario: a file is played, and a miss has line, reason and both sides") {
    RunReport report;
    Refusals refusals;
    ScenarioPlayer player{"s.jsonl",
                          Assume::nothing,
                          report,
                          refusals,
                          [](std::string_view text) -> Result<ScenarioConfig> {
                              CHECK(text == R"({"mode":"decode"})");
                              return ScenarioConfig{decode_config(), {}};
                          },
                          nullptr};
    std::uint64_t line = 0;
    for (const char* text :
         {R"({"why":"it holds"})", R"({"config":{"mode":"decode"}})", R"({"assume":"acknowledged"})",
          R"({"decision_timeout_s":60})",
          R"({"t":0,"event":"inventory","role":"decode","ready":1,"expected":1})", R"({"config":{}})",
          R"({"t":6,"event":"tick"})", R"({"expect":{"diagnostics":{"ready_decode":1}}})",
          R"({"expect":{"diagnostics":{"ready_decode":1}}})", R"({"t":1,"event":"tick"})"}) {
        REQUIRE(player.take_line(text, ++line));
    }
    CHECK(player.expectations() == 2);
    REQUIRE(player.misses().size() == 1);
    CHECK(player.misses()[0].line == 9);
    CHECK(player.misses()[0].why == "\"it holds\"");
    CHECK(player.config()->coordinator.timeout == Seconds{60.0});
    CHECK(refusals.causes().contains("config_line"));
    CHECK(refusals.causes().contains("earlier"));
}
