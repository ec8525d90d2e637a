#include "discovery/roster.hpp"

#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

namespace {

constexpr std::uint64_t big = 17293822569102704642U;  // above 2^63: ids keep their 64 bits

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("roster: a worker joins with its card, rank by rank, and leaves with it") {
        RosterRig rig;
        rig.roster.put(card_key("prefill", big),
                       card_value(big,
                                  R"("total_kv_blocks":11000,"max_num_seqs":128,)"
                                  R"("max_num_batched_tokens":16384,"context_length":40960,)"
                                  R"("data_parallel_start_rank":4,"data_parallel_size":2)",
                                  R"("worker_type":"prefill","kv_cache_block_size":32)"));
        CHECK(rig.events.taken() ==
              Lines{"+prefill 17293822569102704642.4", "+prefill 17293822569102704642.5"});
        const Capabilities c = rig.events.capabilities["17293822569102704642"];
        CHECK(c == Capabilities{{}, 16384, 128, 40960, 352'000});
        CHECK(rig.roster.role_of("17293822569102704642") == Role::prefill);
        CHECK_FALSE(rig.roster.role_of("1").has_value());
        CHECK(rig.roster.state().workers == PerRole<std::int64_t>{1, 0});
        CHECK(rig.roster.state().engines == PerRole<std::int64_t>{2, 0});
        rig.roster.remove(card_key("prefill", big));
        CHECK(rig.events.taken() ==
              Lines{"-prefill 17293822569102704642.4", "-prefill 17293822569102704642.5"});
        CHECK_FALSE(rig.roster.role_of("17293822569102704642").has_value());
    }

    TEST_CASE("roster: telling the same again changes nothing, telling another card refreshes it") {
        RosterRig rig;
        const std::string key = card_key("backend", 7);
        rig.roster.put(key, card_value(7, R"("max_num_seqs":64)"));
        rig.roster.put(key, card_value(7, R"("max_num_seqs":64)"));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});
        rig.roster.put(key, card_value(7, R"("max_num_seqs":64)", R"("tokenizer":"x")"));
        CHECK(rig.events.taken().empty());  // nothing that the core asks for
        rig.roster.put(key, card_value(7, R"("max_num_seqs":64,"max_num_batched_tokens":8192)"));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(rig.events.capabilities["7"] == Capabilities{{}, 8192, 64, {}, {}});
        rig.roster.remove(key);
        rig.roster.remove(key);
        CHECK(rig.events.taken() == Lines{"-decode 7.0"});
    }

    TEST_CASE("roster: what a card leaves open comes from the defaults of its role, but never the GPUs") {
        PerRole<Capabilities> defaults;
        defaults.decode = {Gpus{8}, 4096, 32, 1024, 500};
        RosterRig rig{{*default_scope({}, "vllm", Mode::disagg), defaults, {}, {}}};
        rig.roster.put(card_key("backend", 7), card_value(7, R"("max_num_seqs":64)"));
        CHECK(rig.events.capabilities["7"] == Capabilities{{}, 4096, 64, 1024, 500});
        rig.roster.put(card_key("prefill", 8), card_value(8, R"("max_num_seqs":64)"));
        CHECK(rig.events.capabilities["8"] == Capabilities{{}, {}, 64, {}, {}});
    }

    TEST_CASE("roster: an adapter is no second worker, and a worker goes with its last card") {
        RosterRig rig;
        const std::string adapter = R"("lora":{"name":"x"},"worker_type":"decode")";
        rig.roster.put(card_key("backend", 7), card_value(7, R"("max_num_seqs":64)"));
        rig.roster.put(card_key("backend", 7, "x"), card_value(7, R"("max_num_seqs":1)", adapter));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(rig.events.capabilities["7"].max_num_seqs == 64);  // the base card's
        CHECK(rig.roster.state().workers.decode == 1);
        rig.roster.remove(card_key("backend", 7, "x"));
        CHECK(rig.events.taken().empty());
        rig.roster.put(card_key("backend", 7, "x"), card_value(7, R"("max_num_seqs":1)", adapter));
        rig.roster.remove(card_key("backend", 7));
        CHECK(rig.events.taken() == Lines{"+decode 7.0"});  // still there, by the adapter's card
        CHECK(rig.events.capabilities["7"].max_num_seqs == 1);
        rig.roster.remove(card_key("backend", 7, "x"));
        CHECK(rig.events.taken() == Lines{"-decode 7.0"});
    }

    TEST_CASE("roster: neighbours whose names begin alike are no workers, and are named") {
        RosterRig rig;
        rig.roster.put(card_key("backend2", 43), card_value(43));
        rig.roster.put("v1/mdc/dynamo/backend/generate2/2c", card_value(44));
        rig.roster.put("v1/mdc/dynamo-x/backend/generate/2d", card_value(45));
        CHECK(rig.events.taken().empty());
        const auto remarks = rig.roster.state().remarks;
        REQUIRE(remarks.size() == 2);  // of either role
        CHECK(remarks[1] ==
              "discovery: no decode worker is registered under dynamo/backend/generate; others are under "
              "dynamo-x/backend/generate dynamo/backend/generate2 dynamo/backend2/generate");
        rig.roster.remove(card_key("backend2", 43));
        CHECK(rig.roster.state().remarks[1].find("backend2") == std::string::npos);
        rig.roster.put(card_key("backend", 7), card_value(7));
        CHECK(rig.roster.state().remarks.size() == 1);
    }

    TEST_CASE("roster: the card tells the role, else the component") {
        RosterRig rig;
        const auto role = [&](std::string_view component, std::string_view card) {
            rig.roster.put(card_key(component, 7), card_value(7, "", card));
            const auto found = rig.roster.role_of("7");
            rig.roster.remove(card_key(component, 7));
            return found;
        };
        CHECK(role("backend", R"("model_type":"Chat | Completions")") == Role::decode);
        CHECK(role("backend", "") == Role::decode);
        CHECK(role("backend", R"("model_type":"Prefill")") == Role::prefill);
        CHECK(role("backend", R"("model_type":16)") == Role::prefill);
        CHECK(role("backend", R"("model_type":{"bits":19})") == Role::prefill);
        CHECK(role("backend", R"("worker_type":"Prefill")") == Role::prefill);
        CHECK(role("prefill", "") == Role::prefill);
        CHECK(role("prefill", R"("worker_type":null,"model_type":"Chat")") == Role::prefill);
        CHECK(role("prefill", R"("worker_type":"decode")") == Role::decode);
        CHECK(role("prefill", R"("worker_type":"aggregated","model_type":"Prefill")") == Role::decode);
        CHECK_FALSE(role("backend", R"("worker_type":"encode")").has_value());
        CHECK(rig.refused("not_scaled") == 1);
    }

    TEST_CASE("roster: a worker that turns out to be an encoder leaves") {
        RosterRig rig;
        rig.roster.put(card_key("backend", 7), card_value(7));
        rig.roster.put(card_key("backend", 7), card_value(7, "", R"("worker_type":"encode")"));
        CHECK(rig.events.taken() == Lines{"+decode 7.0", "-decode 7.0"});
    }

    TEST_CASE("roster: where one component has both roles, cards that do not name prefill are decode") {
        Scope scope{"dynamo", {{{"worker", "generate"}}, {{"worker", "generate"}}}};
        RosterRig rig{RosterOptions{scope, {}, {}, {}}};
        rig.roster.put(card_key("worker", 1), card_value(1));
        rig.roster.put(card_key("worker", 2), card_value(2, "", R"("model_type":"Prefill")"));
        CHECK(rig.events.taken() == Lines{"+decode 1.0", "+prefill 2.0"});
    }

    TEST_CASE("roster: a listing says what is there; what is not in it has gone, and nobody else") {
        RosterRig rig;
        const std::string one = card_key("backend", 1);
        const std::string two = card_key("backend", 2);
        const std::string three = card_key("backend", 3);
        const std::string prefill = card_key("prefill", 9);
        const std::string value = card_value(0);
        for (const std::string& key : {one, two, prefill}) rig.roster.put(key, value);
        rig.events.taken();
        rig.roster.replace_all("v1/mdc/dynamo/backend/", std::vector<KeyValue>{{two, value}, {three, value}});
        CHECK(rig.events.taken() == Lines{"+decode 3.0", "-decode 1.0"});
        rig.roster.replace_all("v1/mdc/dynamo/backend", std::vector<KeyValue>{{two, value}, {three, value}});
        CHECK(rig.events.taken().empty());
        // Entries beside the prefix say nothing about it.
        rig.roster.replace_all("v1/mdc/dynamo/back", std::vector<KeyValue>{{one, value}});
        CHECK(rig.events.taken().empty());
        rig.roster.replace_all("v1/mdc", std::vector<KeyValue>{});
        CHECK(rig.events.taken() == Lines{"-decode 2.0", "-decode 3.0", "-prefill 9.0"});
        CHECK(rig.roster.counts().listings == 4);
    }

    TEST_CASE("roster: a worker whose cards are replaced in one listing stays") {
        RosterRig rig;
        const std::string value = card_value(7);
        rig.roster.put(card_key("backend", 7, "a"), value);
        rig.events.taken();
        const std::string other = card_key("backend", 7, "b");
        rig.roster.replace_all("v1/mdc", std::vector<KeyValue>{{other, value}});
        CHECK(rig.events.taken().empty());
        CHECK(rig.roster.role_of("7") == Role::decode);
    }
}
