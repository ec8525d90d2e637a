#include "wire/json_event.hpp"

#include <string>

#include <doctest/doctest.h>

#include "json_event_equal.hpp"
#include "json_event_samples.hpp"

namespace dynaplan::wire {

namespace {

std::string line_of(const Event& e) {
    std::string out;
    append_event_json(out, e);
    return out;
}

// The message of a line that must be refused.
std::string refusal(std::string_view line) {
    StepLineParser parser;
    Event out;
    const auto r = parser.parse(line, out);
    return r ? "accepted" : r.error().message;
}

Event accepted(std::string_view line) {
    StepLineParser parser;
    Event out;
    const auto r = parser.parse(line, out);
    INFO(line);
    REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
    REQUIRE(!r->fpm_refused);
    CHECK(same(seconds_of(r->at), seconds_of(out.at)));
    return out;
}

template <class Body>
Body body(std::string_view line) {
    return std::get<Body>(accepted(line).body);
}

}  // namespace

TEST_CASE("json event: every event reads back as it was, with one parser and one event reused") {
    StepLineParser parser;
    Event out;
    std::vector<bool> seen(std::variant_size_v<EventBody>, false);
    for (const Event& e : sample_events()) {
        seen[e.body.index()] = true;
        const std::string line = line_of(e);
        INFO(line);
        const auto r = parser.parse(line, out);
        REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
        CHECK(!r->fpm_refused);
        CHECK(same(e, out));
        CHECK(line_of(out) == line);
        CHECK(line.find('\n') == std::string::npos);
    }
    CHECK(seen == std::vector<bool>(std::variant_size_v<EventBody>, true));
}

TEST_CASE("json event: keys come in the order of the contract") {
    Event e{at_seconds(0.0), EngineJoined{Role::decode, {"7", 0}, {Gpus{1}, 8192, 256, 32768, 400000}}};
    CHECK(line_of(e) ==
          R"({"t":0,"event":"engine_joined","role":"decode","worker_id":"7","dp_rank":0,"capabilities":)"
          R"({"num_gpu":1,"max_num_batched_tokens":8192,"max_num_seqs":256,"context_length":32768,)"
          R"("max_kv_tokens":400000}})");
    Traffic t{Seconds{180.0}, 5400.0, 3000.0, 300.0, std::nullopt, Millis{210.0}, Millis{18.0}};
    e = {at_seconds(180.0), TrafficObserved{Seconds{180.0}, Reading<Traffic>::known(t)}};
    CHECK(line_of(e) == R"({"t":180,"event":"traffic","window_s":180,"num_req":5400,"isl":3000,"osl":300,)"
                        R"("ttft_ms":210,"itl_ms":18,"kv_hit_rate":null})");
    e = {at_seconds(200.0), ConfigChanged{{{"ttft", std::int64_t{400}}, {"itl", 40.0}}}};
    CHECK(line_of(e) == R"({"t":200,"event":"config","set":{"ttft":400,"itl":40.0}})");
}

TEST_CASE("json event: keys may come in any order, with white space and a newline") {
    const Event e = accepted(
        " { \"rolling\" : true,\t\"ready\":2, \"event\":\"inventory\", \"role\":\"agg\",\"t\":1.5}\r\n");
    CHECK(same(e, Event{at_seconds(1.5), InventoryRead{Role::decode, Replicas{2}, std::nullopt, true}}));
}

TEST_CASE("json event: null and absent mean unknown") {
    const auto inventory = body<InventoryRead>(R"({"t":0,"event":"inventory","role":"decode","ready":null})");
    CHECK(!inventory.ready);
    CHECK(!inventory.expected);
    const auto joined = body<EngineJoined>(
        R"({"t":0,"event":"engine_joined","role":"prefill","worker_id":"7","capabilities":{"num_gpu":null}})");
    CHECK(joined.capabilities == Capabilities{});
    CHECK(joined.engine.dp_rank == 0);
}

TEST_CASE("json event: traffic is known, idle or unknown") {
    const auto knowledge = [](std::string_view fields) {
        const std::string line = R"({"t":9,"event":"traffic",)" + std::string{fields} + "}";
        return body<TrafficObserved>(line).traffic.knowledge();
    };
    CHECK(knowledge(R"("window_s":180,"num_req":10,"isl":100,"osl":10)") == Knowledge::known);
    CHECK(knowledge(R"("window_s":180,"num_req":0,"isl":100,"osl":10)") == Knowledge::known);
    CHECK(knowledge(R"("window_s":180,"num_req":0)") == Knowledge::idle);
    CHECK(knowledge(R"("window_s":180,"idle":true)") == Knowledge::idle);
    CHECK(knowledge(R"("window_s":180,"idle":true,"num_req":0,"isl":null)") == Knowledge::idle);
    CHECK(knowledge(R"("window_s":180)") == Knowledge::unknown);
    CHECK(knowledge(R"("idle":false)") == Knowledge::unknown);
    CHECK(knowledge(R"("window_s":180,"num_req":null,"isl":100,"osl":10)") == Knowledge::unknown);
    CHECK(knowledge(R"("window_s":180,"num_req":10,"isl":100)") == Knowledge::unknown);
    CHECK(refusal(R"({"t":9,"event":"traffic","window_s":180,"idle":true,"num_req":3})") ==
          "traffic.idle: true, though num_req is above 0");
    CHECK(refusal(R"({"t":9,"event":"traffic","num_req":3,"isl":1,"osl":1})") ==
          "traffic.window_s: is missing, though the traffic is known");
    CHECK(refusal(R"({"t":9,"event":"traffic","window_s":180,"num_req":-1})") ==
          "traffic.num_req: must not be negative");
}

TEST_CASE("json event: settings of a section become dotted names") {
    const auto config = body<ConfigChanged>(
        R"({"t":1,"event":"config","set":{"ttft":400,"policy":{"trigger":"tick","engine_silent_s":5.5}}})");
    const ConfigChanged expected{{{"ttft", std::int64_t{400}},
                                  {"policy.trigger", std::string{"tick"}},
                                  {"policy.engine_silent_s", 5.5}}};
    CHECK(same(config, expected));
    CHECK(
        refusal(R"({"t":1,"event":"config","set":{"policy.trigger":"tick","policy":{"trigger":"tick"}}})") ==
        "config.set: sets 'policy.trigger' twice");
    CHECK(refusal(R"({"t":1,"event":"config","set":{"ttft":[1]}})") ==
          "config.set: 'ttft': expected null, a flag, a number or a string, got an array");
    CHECK(refusal(R"({"t":1,"event":"config","set":{"a":{"b":{"c":{"d":{"e":1}}}}}})")
              .starts_with("config.set: "));
}

TEST_CASE("json event: a line of settings takes no more room and time than its length warrants") {
    // Each name would carry the section's, 100 kB by 20,000 times.
    std::string line = R"({"t":1,"event":"config","set":{")" + std::string(100'000, 's') + R"(":{"first":0)";
    for (int i = 0; i < 20'000; ++i) line += ",\"" + std::to_string(i) + "\":0";
    CHECK(refusal(line + "}}}").starts_with("config.set: no field has a name as long as 'ssss"));
    CHECK(refusal(line + "}}}").size() < 200);

    std::string many = R"({"t":1,"event":"config","set":{"first":0)";
    for (int i = 0; i < 80'000; ++i) many += ",\"" + std::to_string(i) + "\":0";
    CHECK(body<ConfigChanged>(many + "}}").set.size() == 80'001);
    CHECK(refusal(many + R"(,"first":1}})") == "config.set: sets 'first' twice");
}

TEST_CASE("json event: unknown names are refused with the nearest valid one") {
    CHECK(refusal(R"({"t":0,"event":"inventory","role":"decode","redy":1})") ==
          "inventory: unknown key 'redy', did you mean 'ready'?");
    CHECK(refusal(R"({"t":0,"event":"inventry","role":"decode"})") ==
          "unknown event 'inventry', did you mean 'inventory'?");
    CHECK(refusal(R"({"t":0,"event":"inventory","role":"decoder"})") ==
          "inventory.role: unknown role 'decoder', did you mean 'decode'?");
    CHECK(refusal(R"({"t":0,"event":"outcome","decision_id":1,"outcome":"timedout"})") ==
          "outcome.outcome: unknown outcome 'timedout', did you mean 'timed_out'?");
    CHECK(
        refusal(
            R"({"t":0,"event":"engine_joined","role":"decode","worker_id":"1","capabilities":{"num_gpus":1}})") ==
        "engine_joined.capabilities: unknown key 'num_gpus', did you mean 'num_gpu'?");
    CHECK(refusal(R"({"t":0,"event":"tick","a\nb":1})") == "tick: unknown key 'a?b', did you mean 't'?");
}

TEST_CASE("json event: wrong types, missing and repeated fields are refused with the field's name") {
    CHECK(refusal(R"({"event":"tick"})") == "tick.t: is missing");
    CHECK(refusal(R"({"t":null,"event":"tick"})") == "tick.t: must not be null");
    CHECK(refusal(R"({"t":"5","event":"tick"})") == "tick.t: expected a finite number, got a string");
    CHECK(refusal(R"({"t":5})") == "key 'event' is missing");
    CHECK(refusal(R"({"t":5,"effect":"done"})") == "key 'event' is missing; effects are output, not input");
    CHECK(refusal(R"({"t":5,"event":7})") == "event: expected a string, got an integer");
    CHECK(refusal(R"({"t":5,"t":6,"event":"tick"})") == "tick: repeated key 't'");
    CHECK(refusal(R"({"t":0,"event":"inventory","ready":1})") == "inventory.role: is missing");
    CHECK(refusal(R"({"t":0,"event":"inventory","role":"decode","ready":1.0})") ==
          "inventory.ready: expected an integer below 2^63, got a number with a fraction or exponent");
    CHECK(refusal(R"({"t":0,"event":"inventory","role":"decode","ready":-1})") ==
          "inventory.ready: must not be negative");
    CHECK(refusal(R"({"t":0,"event":"inventory","role":"decode","ready":9223372036854775808})") ==
          "inventory.ready: expected an integer below 2^63, got an integer of 2^63 or more");
    CHECK(refusal(R"({"t":0,"event":"inventory","role":"decode","rolling":1})") ==
          "inventory.rolling: expected true or false, got an integer");
    CHECK(refusal(R"({"t":0,"event":"engine_left","role":"decode","worker_id":7})") ==
          "engine_left.worker_id: expected a string, got an integer");
    CHECK(refusal(R"({"t":0,"event":"engine_left","role":"decode","worker_id":""})") ==
          "engine_left.worker_id: must not be empty");
    CHECK(refusal(R"({"t":0,"event":"outcome","outcome":"failed"})") == "outcome.decision_id: is missing");
    CHECK(refusal(R"({"t":0,"event":"bus"})") == "bus.connected: is missing");
    CHECK(refusal(R"({"t":0,"event":"leader","leading":null})") == "leader.leading: must not be null");
    CHECK(refusal(R"({"t":0,"event":"config"})") == "config.set: is missing");
    CHECK(refusal(R"({"t":0,"event":"fpm","role":"decode"})") == "fpm.fpm: is missing");
}

TEST_CASE("json event: what is not one JSON object is refused") {
    CHECK(refusal("") == "the line is empty");
    CHECK(refusal("  \n") == "the line is empty");
    CHECK(refusal("[1]") == "expected a JSON object, got an array");
    CHECK(refusal("{}") == "key 'event' is missing");
    for (const std::string_view line :
         {"{", R"({"t":5,"event":"tick"} {"t":6,"event":"tick"})", R"({"t":1e999,"event":"tick"})", "\xff",
          R"({"t":NaN,"event":"tick"})", R"({"t":5,"event":"tick)", "nonsense"}) {
        INFO(line);
        const std::string message = refusal(line);
        CHECK(message.starts_with("not JSON: "));
        CHECK(message.find('\n') == std::string::npos);
    }
    CHECK(refusal(std::string(2000, '[')).starts_with("not JSON: "));
    CHECK(refusal(std::string(step_line_bytes_max + 1, ' ')).starts_with("the line has 1048577 bytes"));
}

TEST_CASE("json event: an unusable FPM is reported by cause, with the line's time") {
    const auto cause = [](std::string_view fpm) {
        StepLineParser parser;
        Event out;
        const auto r =
            parser.parse(R"({"t":4.5,"event":"fpm","role":"decode","fpm":)" + std::string{fpm} + "}", out);
        REQUIRE(r.has_value());
        CHECK(seconds_of(r->at) == 4.5);
        return r->fpm_refused;
    };
    CHECK(!cause(R"({"version":1,"worker_id":"7","dp_rank":0,"counter_id":9,"wall_time":0.012})"));
    CHECK(cause(R"({"version":2,"worker_id":"7"})") == FpmError::unsupported_version);
    CHECK(cause(R"({"worker_id":"","wall_time":0.5})") == FpmError::empty_worker_id);
    CHECK(cause(R"({"worker_id":"7","wall_time":-0.5})") == FpmError::negative);
    CHECK(cause(R"({"worker_id":"7","counter_id":17.0})") == FpmError::wrong_type);
    CHECK(cause("7") == FpmError::bad_root);
}

TEST_CASE("json event: a refused line leaves the parser fit for the next") {
    StepLineParser parser;
    Event out;
    CHECK(!parser.parse("{", out));
    CHECK(!parser.parse(R"({"t":0,"event":"inventory","role":"x"})", out));
    REQUIRE(parser.parse(R"({"t":3,"event":"tick"})", out));
    CHECK(same(out, Event{at_seconds(3.0), TickDue{}}));
}

TEST_CASE("scenario line: the first key says what a line is") {
    const auto is = [](std::string_view line, ScenarioLineKind kind, std::string_view text) {
        INFO(line);
        const ScenarioLine got = scenario_line(line);
        CHECK(got.kind == kind);
        CHECK(got.text == text);
    };
    is(" \r\n", ScenarioLineKind::blank, "");
    is(R"({"why": "because"})", ScenarioLineKind::why, R"("because")");
    is(" { \"config\" : {\"mode\": \"decode\"} }\n", ScenarioLineKind::config, R"({"mode": "decode"})");
    is(R"({"expect":{"no":"scale_to"}})", ScenarioLineKind::expect, R"({"no":"scale_to"})");
    is(R"({"t":0,"event":"config","set":{}})", ScenarioLineKind::event,
       R"({"t":0,"event":"config","set":{}})");
    is(R"({"event":"config","t":0})", ScenarioLineKind::event, R"({"event":"config","t":0})");
    is(R"({"whys":1})", ScenarioLineKind::event, R"({"whys":1})");
    is(R"({"why")", ScenarioLineKind::event, R"({"why")");
    is(R"({"why":)", ScenarioLineKind::event, R"({"why":)");
    is("{", ScenarioLineKind::event, "{");
    is("nonsense", ScenarioLineKind::event, "nonsense");
}

}  // namespace dynaplan::wire
