#include "sim/engine.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::sim;

namespace {

EngineConfig plain() {
    EngineConfig c;
    c.pass_time.affine = {Seconds{0.01}, Seconds{1e-5}, Seconds{0.0}, Seconds{1e-6}};
    c.max_num_batched_tokens = 1000;
    c.max_num_seqs = 4;
    c.max_kv_tokens = 5000;
    c.noise = 0.0;
    return c;
}

Request prompt(std::int64_t isl, std::int64_t osl) {
    Request r;
    r.isl = isl;
    r.osl = osl;
    return r;
}

// An engine with its own clock.
struct Bench {
    explicit Bench(const EngineConfig& config, Duty duty = Duty::decode) : engine{config, duty, Random{1}} {}
    ForwardPass pass() {
        now += engine.begin_pass(1.0);
        return engine.end_pass(now, handed_over, finished);
    }
    Engine engine;
    TimePoint now{};
    std::vector<Request> handed_over;
    std::vector<Request> finished;
};

}  // namespace

TEST_CASE("engine: a long prompt is computed in chunks, then decoded token by token") {
    Bench b{plain()};
    b.engine.take(prompt(2500, 3));
    const ForwardPass first = b.pass();
    CHECK(first.counter_id == 0);
    CHECK(first.wall_time == doctest::Approx(0.02));
    CHECK(first.scheduled == ScheduledRequests{1, 1000, 0.0, 0, 0, 0, 0.0});
    const ForwardPass second = b.pass();
    CHECK(second.counter_id == 1);
    CHECK(second.scheduled == ScheduledRequests{1, 1000, 0.0, 1000, 0, 0, 0.0});
    const ForwardPass third = b.pass();
    CHECK(third.scheduled == ScheduledRequests{1, 500, 0.0, 2000, 0, 0, 0.0});
    const ForwardPass fourth = b.pass();
    CHECK(fourth.scheduled == ScheduledRequests{0, 0, 0.0, 0, 1, 2500, 0.0});
    CHECK(fourth.wall_time == doctest::Approx(0.0125));
    const ForwardPass fifth = b.pass();
    CHECK(fifth.scheduled.sum_decode_kv_tokens == 2501);
    REQUIRE(b.finished.size() == 1);
    CHECK(b.finished[0].generated == 3);
    CHECK(seconds_of(b.finished[0].first_token) == doctest::Approx(0.02 + 0.02 + 0.015));
    CHECK(b.finished[0].last_token == b.now);
    CHECK_FALSE(b.engine.has_work());
    CHECK(b.engine.kv_tokens() == 0);
}

TEST_CASE("engine: what does not fit the pass is queued, with mean and variance over requests") {
    Bench b{plain()};
    b.engine.take(prompt(900, 2));
    b.engine.take(prompt(300, 2));
    b.engine.take(prompt(100, 2));
    const ForwardPass p = b.pass();
    // 900 and a chunk of 100 of the second; the third waits.
    CHECK(p.scheduled.num_prefill_requests == 2);
    CHECK(p.scheduled.sum_prefill_tokens == 1000);
    CHECK(p.scheduled.var_prefill_length == 300.0 * 300.0);
    CHECK(p.queued == QueuedRequests{1, 100, 0.0, 0, 0, 0.0});
    const ForwardPass q = b.pass();
    CHECK(q.scheduled.num_decode_requests == 1);
    CHECK(q.scheduled.sum_decode_kv_tokens == 900);
    CHECK(q.scheduled.num_prefill_requests == 2);
    CHECK(q.scheduled.sum_prefill_tokens == 300);
    CHECK(q.scheduled.sum_prefill_kv_tokens == 100);
    CHECK(q.queued == QueuedRequests{});
}

TEST_CASE("engine: the batch is bounded by sequences") {
    Bench b{plain()};
    for (int i = 0; i < 6; ++i) b.engine.take(prompt(10, 5));
    const ForwardPass p = b.pass();
    CHECK(p.scheduled.num_prefill_requests == 4);
    CHECK(p.queued.num_prefill_requests == 2);
    CHECK(p.queued.sum_prefill_tokens == 20);
}

TEST_CASE("engine: a prefill engine hands over, and its KV is free again") {
    Bench b{plain(), Duty::hand_over};
    b.engine.take(prompt(400, 50));
    b.pass();
    REQUIRE(b.handed_over.size() == 1);
    CHECK(b.handed_over[0].generated == 1);
    CHECK(b.handed_over[0].computed == 400);
    CHECK_FALSE(b.handed_over[0].prefilling);
    CHECK(b.engine.kv_tokens() == 0);

    Bench d{plain()};
    d.engine.take(b.handed_over[0]);
    const ForwardPass p = d.pass();
    CHECK(p.scheduled == ScheduledRequests{0, 0, 0.0, 0, 1, 400, 0.0});
}

TEST_CASE("engine: handed-over requests that wait count as queued decode work") {
    EngineConfig c = plain();
    c.max_num_seqs = 1;
    Bench d{c};
    Request r = prompt(400, 50);
    r.prefilling = false;
    r.computed = 400;
    r.generated = 1;
    d.engine.take(r);
    d.engine.take(r);
    const ForwardPass p = d.pass();
    CHECK(p.scheduled.num_decode_requests == 1);
    CHECK(p.queued == QueuedRequests{0, 0, 0.0, 1, 401, 0.0});
}

TEST_CASE("engine: a full KV cache preempts the newest, which computes everything again") {
    EngineConfig c = plain();
    c.max_kv_tokens = 1005;
    Bench b{c};
    b.engine.take(prompt(500, 100));
    b.engine.take(prompt(490, 100));
    bool preempted = false;
    bool recomputed = false;
    std::int64_t most = 0;
    for (int i = 0; i < 400 && b.engine.has_work(); ++i) {
        const ForwardPass p = b.pass();
        most = std::max(most, b.engine.kv_tokens());
        if (p.queued.num_decode_requests == 1) {
            preempted = true;
            CHECK(p.queued.sum_decode_kv_tokens >= 491);
            CHECK(p.queued.num_prefill_requests == 0);
        }
        recomputed = recomputed || (preempted && p.scheduled.sum_prefill_tokens >= 491);
    }
    CHECK(preempted);
    CHECK(recomputed);
    CHECK(most <= 1005);
    REQUIRE(b.finished.size() == 2);
    CHECK(b.finished[0].isl == 500);
    CHECK(b.finished[1].generated == 100);
    CHECK(b.engine.kv_tokens() == 0);
}

TEST_CASE("engine: cached prompt tokens are read, not computed") {
    Bench b{plain()};
    Request r = prompt(800, 2);
    r.cached = 600;
    b.engine.take(r);
    const ForwardPass p = b.pass();
    CHECK(p.scheduled == ScheduledRequests{1, 200, 0.0, 600, 0, 0, 0.0});
    CHECK(b.engine.kv_tokens() == 800);
}

TEST_CASE("engine: heartbeats share the counter and are all zero when idle") {
    Bench b{plain()};
    CHECK(is_idle_heartbeat(b.engine.heartbeat()));
    b.engine.take(prompt(10, 1));
    CHECK(b.pass().counter_id == 1);
    b.engine.take(prompt(10, 1));
    const ForwardPass stuck = b.engine.heartbeat();
    CHECK(stuck.counter_id == 2);
    CHECK(stuck.wall_time == 0.0);
    CHECK(stuck.queued.num_prefill_requests == 1);
}

TEST_CASE("engine: first passes are slow, a slow engine always, noise has its deviation") {
    EngineConfig c = plain();
    c.warmup_passes = 2;
    c.warmup_factor = 10.0;
    Bench b{c};
    b.engine.take(prompt(1000, 5));
    CHECK(b.pass().wall_time == doctest::Approx(0.2));
    CHECK(b.pass().wall_time == doctest::Approx(0.11));
    CHECK(b.pass().wall_time == doctest::Approx(0.01 + 1001e-6));
    CHECK(b.engine.begin_pass(3.0).count() == doctest::Approx(3 * (0.01 + 1002e-6)));
}

TEST_CASE("engine: taking all away empties it, and everything must be computed again") {
    Bench b{plain()};
    b.engine.take(prompt(100, 50));
    b.engine.take(prompt(2000, 50));
    b.pass();
    b.pass();
    const std::vector<Request> all = b.engine.take_all();
    REQUIRE(all.size() == 2);
    CHECK(all[0].generated == 2);
    CHECK(all[0].computed == 0);
    CHECK(all[0].prefilling);
    CHECK_FALSE(b.engine.has_work());
    CHECK(is_idle_heartbeat([&] {
        ForwardPass p = b.engine.heartbeat();
        return p;
    }()));
}
