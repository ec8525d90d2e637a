#include <doctest/doctest.h>

#include "replay/trace_roles.hpp"
#include "trace_samples.hpp"

using namespace dynaplan;
using namespace dynaplan::replay;

namespace {

TraceFacts facts(std::initializer_list<const char*> components, std::int64_t prefill_tokens = 0) {
    Recording r;
    r.begin_file("a");
    for (const char* component : components) {
        wire::TraceRecord record = record_at(0, component);
        record.fpm.pass.scheduled.sum_prefill_tokens = prefill_tokens;
        r.take(record, 1);
    }
    return facts_of(r, RoleTable{});
}

}  // namespace

TEST_CASE("roles: the table of backends, what the user says before it, a mode of one role after it") {
    RoleTable t;
    CHECK(t.role_of("prefill") == Role::prefill);
    CHECK(t.role_of("backend") == Role::decode);
    CHECK(t.role_of("tensorrt_llm") == Role::decode);
    CHECK_FALSE(t.role_of("other"));
    t.set_mode(Mode::disagg);
    CHECK_FALSE(t.role_of("other"));
    t.set_mode(Mode::prefill);
    CHECK(t.role_of("other") == Role::prefill);
    t.set_mode(Mode::agg);
    CHECK(t.role_of("other") == Role::decode);
    t.set("backend", Role::prefill);
    CHECK(t.role_of("backend") == Role::prefill);
}

TEST_CASE("roles: the mode follows from the engines seen") {
    CHECK(mode_of(facts({"prefill", "backend"})) == Mode::disagg);
    CHECK(mode_of(facts({"prefill"})) == Mode::prefill);
    CHECK(mode_of(facts({"backend"})) == Mode::decode);
    CHECK(mode_of(facts({"backend"}, 500)) == Mode::agg);
    CHECK(facts({"backend", "x", "y"}).unknown_components == std::vector<std::string>{"x", "y"});
}

TEST_CASE("roles: capabilities are the largest sums seen, rounded up to 1,024 tokens") {
    const auto of = [](std::int64_t tokens) {
        return capabilities_of({.prefill_tokens_max = tokens}).max_num_batched_tokens;
    };
    CHECK_FALSE(of(0));
    CHECK(of(1) == 1024);
    CHECK(of(1024) == 1024);
    CHECK(of(1025) == 2048);
    CHECK(*of(INT64_MAX) > 0);
    CHECK(capabilities_of({.kv_tokens_max = 77}).max_kv_tokens == 77);
    CHECK(capabilities_of({}).num_gpu == Gpus{1});
}

TEST_CASE("roles: what the configuration says stays") {
    PlannerConfig c = decode_config();
    c.decode_engine_num_gpu.reset();
    TraceFacts f;
    f.role.decode.kv_tokens_max = 5;
    f.role.decode.prefill_tokens_max = 5;
    f.role.prefill.kv_tokens_max = 9;
    const auto said = complete(c, f);
    CHECK(c.capabilities.decode.max_kv_tokens == 400'000);
    CHECK(c.capabilities.decode.max_num_batched_tokens == 1024);
    CHECK(c.decode_engine_num_gpu == 1);
    CHECK_FALSE(c.capabilities.prefill.max_kv_tokens);  // the mode has no prefill
    REQUIRE(said.size() == 1);
    CHECK(said[0] == "decode: max_num_batched_tokens 1024, 1 GPU");
}
