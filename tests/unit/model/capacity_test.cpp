#include "model/capacity.hpp"

#include <doctest/doctest.h>

#include "model/estimate.hpp"
#include "toss.hpp"

using namespace dynaplan;
using namespace dynaplan::model;

namespace {

Fit accepted(double b0, double b1, double intercept) {
    Fit fit;
    fit.state = FitState::accepted;
    fit.coefficient_0 = b0;
    fit.coefficient_1 = b1;
    fit.intercept = intercept;
    return fit;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("agg capacity: bisection finds what the sweep finds, on random models and loads") {
        Toss toss{42};
        int met = 0;
        int several = 0;
        for (int round = 0; round < 4000; ++round) {
            const Fit fit = accepted(toss.unit() * 1e-4, toss.unit() * 2e-7, toss.unit() * 0.03);
            AggLoad load;
            load.isl = 1.0 + static_cast<double>(toss.below(8000));
            load.osl = 0.5 + toss.unit() * 600.0;
            load.kv_hit_rate = toss.below(3) == 0 ? toss.unit() * 0.95 : 0.0;
            load.avg_isl = toss.unit() * 3000.0;
            load.max_num_batched_tokens = 1 + toss.below(16384);
            if (toss.below(4) != 0) load.max_kv_tokens = toss.below(2'000'000);
            if (toss.below(4) != 0) load.max_num_seqs = 1 + toss.below(512);
            load.ttft_target = Millis{toss.unit() * 1500.0};
            load.itl_target = Millis{toss.unit() * 80.0};
            const Capacity bisected = agg_capacity(fit, load);
            const Capacity swept = agg_capacity_swept(fit, load);
            REQUIRE(bisected.rps == swept.rps);
            REQUIRE(bisected.ttft_ms == swept.ttft_ms);
            REQUIRE(bisected.itl_ms == swept.itl_ms);
            REQUIRE(bisected.sla_met == swept.sla_met);
            if (swept.sla_met && swept.rps > 0.0) ++met;
            if (swept.sla_met && swept.itl_ms > 1000.0 * fit.intercept * 1.01) ++several;
        }
        CHECK(met > 500);  // the comparison has to have met both outcomes
        CHECK(several > 100);
    }

    TEST_CASE("agg capacity: without a model, a chunk or lengths there is none") {
        AggLoad load;
        load.isl = 1000.0;
        load.osl = 100.0;
        load.max_num_batched_tokens = 8192;
        load.ttft_target = Millis{500.0};
        load.itl_target = Millis{50.0};
        CHECK(agg_capacity(Fit{}, load).rps == 0.0);
        const Fit fit = accepted(1e-6, 1e-8, 0.01);
        CHECK(agg_capacity(fit, load).rps > 0.0);
        load.osl = 0.0;
        CHECK(agg_capacity(fit, load).rps == 0.0);
        load.osl = 100.0;
        load.max_num_batched_tokens.reset();
        CHECK(agg_capacity(fit, load).rps == 0.0);
    }

    TEST_CASE("decode capacity: the largest batch inside the target, limited by KV and sequences") {
        const Fit fit = accepted(0.0, 1e-7, 0.008);
        DecodeLoad load;
        load.context_length = 2200.0;
        load.osl = 400.0;
        load.max_kv_tokens = 400'000;
        load.max_num_seqs = 256;
        load.itl_target = Millis{30.0};
        // 8 ms + 1e-4 ms x 220,000 = 30 ms: 100 requests of 2,200 tokens.
        CHECK(decode_capacity(fit, load).rps == doctest::Approx(100.0 / (400.0 * 0.030)).epsilon(0.02));
        load.max_num_seqs = 10;
        CHECK(decode_capacity(fit, load).rps ==
              doctest::Approx(10.0 / (400.0 * (0.008 + 1e-7 * 22'000.0))).epsilon(1e-6));
        load.max_num_seqs = 256;
        load.itl_target = Millis{5.0};
        CHECK_FALSE(decode_capacity(fit, load).sla_met);
    }

    TEST_CASE("estimates: TTFT of many chunks has a closed form") {
        const Fit fit = accepted(2.9296875e-05, 0.0, 0.005);
        TtftQuery q;
        q.avg_isl = 3000.0;
        q.max_num_batched_tokens = 8192;
        q.queued_prefill_tokens = 5000.0;
        CHECK(*estimate_ttft(fit, q) == doctest::Approx(0.239375).epsilon(1e-12));
        q.queued_prefill_tokens = 20000.0;
        CHECK(*estimate_ttft(fit, q) == doctest::Approx(0.688828125).epsilon(1e-12));
        q.kv_hit_rate = 0.5;
        CHECK(*estimate_ttft(fit, q) == doctest::Approx(0.3469140625).epsilon(1e-12));
        q.kv_hit_rate = clamp_kv_hit_rate(1.0);
        CHECK(*estimate_ttft(fit, q) == doctest::Approx(0.03869140625).epsilon(1e-12));
        q.max_num_batched_tokens = 0;
        CHECK_FALSE(estimate_ttft(fit, q).has_value());
    }
}
