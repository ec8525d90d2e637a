#include "discovery/worker_table.hpp"

#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

namespace {

Worker worker(Role role, std::int64_t first, std::int64_t count, std::int64_t kv = 1000) {
    Worker w{role, first, count, {}};
    w.capabilities.max_kv_tokens = kv;
    return w;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("worker table: each rank joins once, and all leave with their worker") {
        SeenEvents seen;
        WorkerTable table{seen};
        REQUIRE(table.set("7", worker(Role::decode, 2, 3)));
        CHECK(seen.taken() == Lines{"+decode 7.2", "+decode 7.3", "+decode 7.4"});
        REQUIRE(table.set("7", worker(Role::decode, 2, 3)));
        CHECK(seen.taken().empty());
        CHECK(table.role_of("7") == Role::decode);
        CHECK_FALSE(table.role_of("07").has_value());
        CHECK(table.engines().decode == 3);
        CHECK(table.workers().decode == 1);
        table.erase("8");
        table.erase("7");
        CHECK(seen.taken() == Lines{"-decode 7.2", "-decode 7.3", "-decode 7.4"});
        CHECK(table.engines().decode == 0);
        CHECK(table.workers().decode == 0);
        CHECK_FALSE(table.role_of("7").has_value());
    }

    TEST_CASE("worker table: what changes is told, no more") {
        SeenEvents seen;
        WorkerTable table{seen};
        REQUIRE(table.set("7", worker(Role::decode, 0, 2)));
        seen.taken();
        REQUIRE(table.set("7", worker(Role::decode, 1, 2)));  // ranks 0, 1 became 1, 2
        CHECK(seen.taken() == Lines{"-decode 7.0", "+decode 7.2"});
        REQUIRE(table.set("7", worker(Role::decode, 1, 2, 2000)));
        CHECK(seen.taken() == Lines{"+decode 7.1", "+decode 7.2"});
        CHECK(seen.capabilities["7"].max_kv_tokens == 2000);
        REQUIRE(table.set("7", worker(Role::prefill, 1, 2, 2000)));
        CHECK(seen.taken() == Lines{"-decode 7.1", "-decode 7.2", "+prefill 7.1", "+prefill 7.2"});
        CHECK(table.engines() == PerRole<std::int64_t>{2, 0});
        CHECK(table.workers() == PerRole<std::int64_t>{1, 0});
        CHECK(table.role_of("7") == Role::prefill);
    }

    TEST_CASE("worker table: the number of engines is bounded, and the bound counts what is there") {
        SeenEvents seen;
        WorkerTable table{seen};
        REQUIRE(table.set("1", worker(Role::decode, 0, WorkerTable::engines_most - 1)));
        REQUIRE(table.set("2", worker(Role::prefill, 0, 1)));
        seen.taken();
        CHECK_FALSE(table.set("3", worker(Role::decode, 0, 1)));
        CHECK_FALSE(table.set("2", worker(Role::prefill, 0, 2)));
        CHECK(seen.taken().empty());
        CHECK_FALSE(table.role_of("3").has_value());
        CHECK(table.set("2", worker(Role::prefill, 5, 1)));
        table.erase("1");
        CHECK(table.set("3", worker(Role::decode, 0, 1)));
    }
}
