// Records that lie, are torn, or are too many.
#include "discovery/card_worker.hpp"
#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

TEST_SUITE("unit") {
    TEST_CASE("roster: a record that cannot be read is counted and skipped") {
        RosterRig rig;
        const std::string key = card_key("backend", 7);
        for (
            const std::string_view value :
            {"", "{", "null", "[]", "7", R"({"type":"Model"})", R"({"type":"Model","instance_id":-1})",
             R"({"type":"Model","instance_id":1e3})",
             R"({"type":"Model","instance_id":18446744073709551616})", R"({"type":"Other","instance_id":7})",
             "{\"type\":\"Model\",\"instance_id\":7,\"x\":\"\xff\"}",
             R"({"type":"Endpoint","component":"backend","endpoint":"generate","namespace":"dynamo","instance_id":7})"}) {
            rig.roster.put(key, value);
        }
        CHECK(rig.refused("bad_value") == 12);
        rig.roster.put(key, std::string(Roster::value_bytes_most + 1, ' '));
        CHECK(rig.refused("too_large") == 1);
        rig.roster.put(key, std::string(100'000, '['));  // deep, and no end
        CHECK(rig.refused("bad_value") == 13);
        CHECK(rig.events.taken().empty());
    }

    TEST_CASE("roster: a worker stays when its card is overwritten with something that cannot be read") {
        RosterRig rig;
        const std::string key = card_key("backend", 7);
        rig.roster.put(key, card_value(7, R"("max_num_seqs":64)"));
        rig.roster.put(key, R"({"type":"Mod)");
        rig.roster.replace_all("v1/mdc", std::vector<KeyValue>{{key, "torn"}});
        rig.roster.put(key, card_value(7, R"("data_parallel_size":5000)"));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(rig.roster.role_of("7") == Role::decode);
        rig.roster.remove(key);
        CHECK(rig.events.taken() == Lines{"-decode 7.0"});
    }

    TEST_CASE("roster: keys of other layouts are counted, those of other buckets are not looked at") {
        RosterRig rig;
        for (const std::string_view key : {"v1/mdc/dynamo/backend/generate/not-hex", "v1/mdc/dynamo/backend",
                                           "v1/mdc/dynamo/backend/generate/7/a/b",
                                           "v1/mdc/dynamo/backend/generate/12345678901234567", "v1/mdc"}) {
            rig.roster.put(key, card_value(7));
            rig.roster.remove(key);
        }
        CHECK(rig.refused("bad_key") == 5);
        for (const std::string_view key :
             {"", "v1/instances/dynamo/backend/generate/7", "v1/mdcx/dynamo/backend/generate/7", "v1"}) {
            rig.roster.put(key, card_value(7));
        }
        CHECK(rig.roster.counts().read == 5);
        CHECK(rig.events.taken().empty());
    }

    TEST_CASE("roster: the key's id counts, whatever the value says") {
        RosterRig rig;
        rig.roster.put(card_key("backend", 7), card_value(8));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(rig.roster.counts().id_mismatches == 1);
        CHECK_FALSE(rig.roster.role_of("8").has_value());
    }

    TEST_CASE("roster: numbers that no engine has are unknown, not believed") {
        RosterRig rig;
        rig.roster.put(card_key("backend", 7),
                       card_value(7,
                                  R"("max_num_seqs":0,"max_num_batched_tokens":9223372036854775807,)"
                                  R"("context_length":-5,"total_kv_blocks":4611686018427387904,)"
                                  R"("data_parallel_size":0,"data_parallel_start_rank":-3)",
                                  R"("kv_cache_block_size":4)"));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(rig.events.capabilities["7"] == Capabilities{});
        CHECK(rig.roster.counts().implausible == 2);  // the others are refused by whoever reads cards
        rig.roster.put(card_key("backend", 8),
                       card_value(8, R"("max_num_seqs":"many","max_num_batched_tokens":8192.5,)"
                                     R"("context_length":true,"data_parallel_size":[2])"));
        CHECK(rig.events.taken() == Lines{"+decode 8.0"});
        CHECK(rig.events.capabilities["8"] == Capabilities{});
    }

    TEST_CASE("roster: a claim of absurdly many ranks floods nobody") {
        RosterRig rig;
        rig.roster.put(card_key("backend", 7), card_value(7, R"("data_parallel_size":1025)"));
        rig.roster.put(card_key("backend", 8), card_value(8, R"("data_parallel_size":65536)"));
        CHECK(rig.refused("too_many_ranks") == 2);
        rig.roster.put(card_key("backend", 9),
                       card_value(9, R"("data_parallel_start_rank":9000000000,"data_parallel_size":2)"));
        CHECK(rig.refused("rank_out_of_range") == 1);
        CHECK(rig.events.taken().empty());
        rig.roster.put(card_key("backend", 7), card_value(7, R"("data_parallel_size":1024)"));
        CHECK(rig.events.taken().size() == ranks_most);
    }

    TEST_CASE("roster: too many engines are left out until there is room") {
        RosterRig rig;
        constexpr std::uint64_t full = WorkerTable::engines_most / ranks_most;
        const std::string wide = R"("data_parallel_size":1024)";
        for (std::uint64_t id = 1; id <= full; ++id) {
            rig.roster.put(card_key("backend", id), card_value(id, wide));
        }
        CHECK(rig.roster.state().engines.decode == WorkerTable::engines_most);
        rig.roster.put(card_key("backend", 99), card_value(99));
        CHECK(rig.refused("too_many_engines") == 1);
        CHECK_FALSE(rig.roster.role_of("99").has_value());
        rig.events.taken();
        rig.roster.remove(card_key("backend", 3));
        const Lines told = rig.events.taken();
        REQUIRE(told.size() == ranks_most + 1);
        CHECK(told.back() == "+decode 99.0");
        rig.roster.remove(card_key("backend", 99));
        CHECK(rig.events.taken() == Lines{"-decode 99.0"});
    }

    TEST_CASE("roster: remarks come at doubling counts only, and repeat no control bytes") {
        RosterRig rig;
        for (int i = 0; i < 100; ++i) rig.roster.put("v1/mdc/\x1b[31m\n", "x");
        REQUIRE(rig.remarks.size() == 7);  // 1, 2, 4, ... 64
        CHECK(rig.remarks[0] == "discovery: v1/mdc/?[31m?: not a discovery key that is known; skipped");
        CHECK(rig.remarks[6].ends_with("(64 times by now)"));
        CHECK(rig.roster.state().remarks.back().ends_with("(100 times by now)"));
    }

    TEST_CASE("roster: records of other places do not pile up") {
        RosterRig rig;
        for (std::uint64_t id = 1; id <= 2 * Roster::elsewhere_most; ++id) {
            rig.roster.put(card_key("frontend", id), card_value(id));
        }
        rig.roster.put(card_key("backend", 1), card_value(1));
        CHECK(rig.events.taken() == Lines{"+decode 1.0"});
        rig.roster.replace_all("v1/mdc", std::vector<KeyValue>{});
        CHECK(rig.events.taken() == Lines{"-decode 1.0"});
        CHECK(rig.roster.counts().removed == 1);
    }
}
