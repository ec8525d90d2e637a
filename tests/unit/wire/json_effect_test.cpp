#include "wire/json_effect.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>

namespace dynaplan::wire {

namespace {

std::string line_of(const Effect& e, const ProposalFate& fate = {}) {
    std::string out;
    append_effect_json(out, e, fate);
    return out;
}

ScaleTo sample_scale_to() {
    ScaleTo s;
    s.proposal = 4;
    s.decode = Replicas{2};
    s.reason = Reason::scale_up;
    return s;
}

}  // namespace

TEST_CASE("json effect: scale_to carries the proposal, or what became of it") {
    const Effect e{at_seconds(5.0), sample_scale_to()};
    CHECK(
        line_of(e) ==
        R"({"t":5,"effect":"scale_to","proposal":4,"prefill":null,"decode":2,"reason":"scale_up","why":{}})");
    CHECK(
        line_of(e, {.decision_id = 0, .refused = std::nullopt}) ==
        R"({"t":5,"effect":"scale_to","decision_id":0,"prefill":null,"decode":2,"reason":"scale_up","why":{}})");
    CHECK(line_of(e, {.decision_id = std::nullopt, .refused = Refusal::not_ready}) ==
          R"({"t":5,"effect":"scale_to","proposal":4,"refused":"not_ready","prefill":null,"decode":2,)"
          R"("reason":"scale_up","why":{}})");
    std::string plain;
    append_effect_json(plain, e);
    CHECK(plain == line_of(e));
}

TEST_CASE("json effect: why shows what is known of each role, with units in the names") {
    RoleWhy full;
    full.ready = Replicas{3};
    full.expected = Replicas{4};
    full.engines = 3;
    full.engines_left_out = 1;
    full.estimate_max = Millis{61.25};
    full.estimate_min = Millis{40.0};
    full.target = Millis{50.0};
    full.threshold = Millis{40.0};
    full.best_reachable = Millis{55.5};
    full.load_reason = Reason::scale_up;
    full.throughput_reason = Reason::set_lower_bound;
    full.load_desired = Replicas{9};
    full.throughput_desired = Replicas{5};
    full.demand_rps = 30.0;
    full.engine_rps = 7.5;
    full.clamps = {ClampStage::step, ClampStage::budget};
    ScaleTo s = sample_scale_to();
    s.cancels = true;
    s.why.role.prefill = RoleWhy{};
    s.why.role.decode = full;
    CHECK(
        line_of({at_seconds(5.5), s}) ==
        R"({"t":5.5,"effect":"scale_to","proposal":4,"prefill":null,"decode":2,"reason":"scale_up","cancels":true,)"
        R"("why":{"prefill":{"ready":0,"engines":0,"engines_left_out":0},)"
        R"("decode":{"ready":3,"expected":4,"engines":3,"engines_left_out":1,"estimate_max_ms":61.25,)"
        R"("estimate_min_ms":40,"target_ms":50,"threshold_ms":40,"best_reachable_ms":55.5,)"
        R"("load_reason":"scale_up","throughput_reason":"set_lower_bound","load_desired":9,)"
        R"("throughput_desired":5,"demand_rps":30,"engine_rps":7.5,"clamps":["step","budget"]}}})");
    std::string why;
    append_why_json(why, s.why);
    CHECK(line_of({at_seconds(5.5), s}).ends_with("\"why\":" + why + "}"));
}

TEST_CASE("json effect: diagnostics carry all sixteen fields, then counts, holds and counters") {
    DiagnosticsReport d;
    CHECK(
        line_of({at_seconds(5.0), d}) ==
        R"({"t":5,"effect":"diagnostics","estimated_ttft_ms":null,"estimated_itl_ms":null,)"
        R"("predicted_num_req":null,"predicted_isl":null,"predicted_osl":null,"predicted_kv_hit_rate":null,)"
        R"("engine_rps_prefill":null,"engine_rps_decode":null,"throughput_lower_bound_prefill":1,)"
        R"("throughput_lower_bound_decode":1,"load_decision_reason":null,"throughput_decision_reason":null,)"
        R"("load_decision_reason_prefill":null,"load_decision_reason_decode":null,)"
        R"("throughput_decision_reason_prefill":null,"throughput_decision_reason_decode":null,)"
        R"("ready_prefill":null,"ready_decode":null,"expected_prefill":null,"expected_decode":null,"recommended_prefill":null,"recommended_decode":null,"best_reachable_ttft_ms":null,"best_reachable_itl_ms":null,"holds":[],)"
        R"("ran_load":false,"ran_throughput":false,"fpm_observed":0,"fpm_repeated":0,"fpm_outliers":0,"fpm_ignored":0,)"
        R"("engines_stuck":0,"engines_silent":0})");
    d.diagnostics.estimated_ttft = Millis{210.5};
    d.diagnostics.estimated_itl = Millis{61.2};
    d.diagnostics.predicted_num_req = 5400.0;
    d.diagnostics.predicted_isl = 3000.0;
    d.diagnostics.predicted_osl = 300.25;
    d.diagnostics.predicted_kv_hit_rate = 0.5;
    d.diagnostics.engine_rps = {1.5, std::numeric_limits<double>::infinity()};
    d.diagnostics.throughput_lower_bound = {Replicas{2}, Replicas{3}};
    d.diagnostics.load_decision_reason = Reason::scale_up;
    d.diagnostics.throughput_decision_reason = Reason::scale;
    d.diagnostics.load_decision_reason_of = {Reason::no_change, Reason::scale_up};
    d.diagnostics.throughput_decision_reason_of = {Reason::scale, Reason::set_lower_bound};
    d.ready = {Replicas{1}, Replicas{2}};
    d.expected = {Replicas{1}, Replicas{4}};
    d.holds = {{Role::prefill, Reason::engines_missing, at_seconds(1.0), std::nullopt},
               {Role::decode, Reason::scaling_in_progress, at_seconds(1.5), at_seconds(601.5)}};
    d.ran_load = true;
    d.ran_throughput = true;
    d.fpm_observed = 100;
    d.fpm_repeated = 7;
    d.fpm_outliers = 3;
    d.engines_stuck = 1;
    d.engines_silent = 2;
    CHECK(
        line_of({at_seconds(180.0), d}) ==
        R"({"t":180,"effect":"diagnostics","estimated_ttft_ms":210.5,"estimated_itl_ms":61.2,)"
        R"("predicted_num_req":5400,"predicted_isl":3000,"predicted_osl":300.25,"predicted_kv_hit_rate":0.5,)"
        R"("engine_rps_prefill":1.5,"engine_rps_decode":null,"throughput_lower_bound_prefill":2,)"
        R"("throughput_lower_bound_decode":3,"load_decision_reason":"scale_up",)"
        R"("throughput_decision_reason":"scale","load_decision_reason_prefill":"no_change",)"
        R"("load_decision_reason_decode":"scale_up","throughput_decision_reason_prefill":"scale",)"
        R"("throughput_decision_reason_decode":"set_lower_bound","ready_prefill":1,"ready_decode":2,)"
        R"("expected_prefill":1,"expected_decode":4,"recommended_prefill":null,"recommended_decode":null,"best_reachable_ttft_ms":null,"best_reachable_itl_ms":null,"holds":[{"role":"prefill","reason":"engines_missing",)"
        R"("since":1,"deadline":null},{"role":"decode","reason":"scaling_in_progress","since":1.5,)"
        R"("deadline":601.5}],"ran_load":true,"ran_throughput":true,"fpm_observed":100,"fpm_repeated":7,)"
        R"("fpm_outliers":3,"fpm_ignored":0,"engines_stuck":1,"engines_silent":2})");
}

TEST_CASE("json effect: the short ones") {
    CHECK(line_of({at_seconds(180.0), TrafficWanted{Seconds{180.0}}}) ==
          R"({"t":180,"effect":"traffic_wanted","window_s":180})");
    CHECK(line_of({at_seconds(5.0), WakeAt{at_seconds(10.0)}}) == R"({"t":5,"effect":"wake_at","at":10})");
    CHECK(line_of({at_seconds(5.0), ConfigRefused{"ttft: must be \"positive\""}}) ==
          R"({"t":5,"effect":"error","message":"ttft: must be \"positive\""})");
    std::string out;
    append_done(out, at_seconds(0.1));
    CHECK(out == R"({"t":0.1,"effect":"done"})");
    out.clear();
    append_error(out, std::nullopt, "line 1: \xff");
    CHECK(out == "{\"t\":null,\"effect\":\"error\",\"message\":\"line 1: \xef\xbf\xbd\"}");
    out.clear();
    append_error(out, at_seconds(3.0), "x");
    CHECK(out == R"({"t":3,"effect":"error","message":"x"})");
}

}  // namespace dynaplan::wire
