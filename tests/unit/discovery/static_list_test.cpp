#include "discovery/static_list.hpp"

#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

TEST_SUITE("unit") {
    TEST_CASE("static list: listed workers join at once with what is known of them") {
        SeenEvents events;
        SeenChannels channels;
        std::vector<StaticWorker> workers{{Role::prefill, "7", "tcp://10.0.0.1:20380", 0, 2, {}},
                                          {Role::decode, "8", {}, 0, 1, {}}};
        workers[0].capabilities.max_num_seqs = 64;
        REQUIRE(StaticList::check(workers).has_value());
        const StaticList list{workers, events, &channels};
        CHECK(events.taken() == Lines{"+prefill 7.0", "+prefill 7.1", "+decode 8.0"});
        CHECK(events.capabilities["7"].max_num_seqs == 64);
        CHECK(channels.taken() == Lines{"+tcp://10.0.0.1:20380 prefill"});
        REQUIRE(list.directory() != nullptr);
        CHECK(list.directory()->role_of("7") == Role::prefill);
        CHECK_FALSE(list.directory()->role_of("9").has_value());
        CHECK(list.engines() == PerRole<std::int64_t>{2, 1});
    }

    TEST_CASE("static list: where an id is missing nobody is refused by ids") {
        SeenEvents events;
        SeenChannels channels;
        const std::vector<StaticWorker> workers{{Role::decode, "8", {}, 0, 1, {}},
                                                {Role::decode, {}, "ipc:///run/x", 0, 1, {}}};
        REQUIRE(StaticList::check(workers).has_value());
        const StaticList list{workers, events, &channels};
        CHECK(list.directory() == nullptr);
        CHECK(events.taken() == Lines{"+decode 8.0"});
        CHECK(channels.taken() == Lines{"+ipc:///run/x decode"});
    }

    TEST_CASE("static list: all problems are named at once") {
        const auto wrong = StaticList::check({{Role::decode, {}, {}, 0, 1, {}},
                                              {Role::decode, "07", {}, 0, 1, {}},
                                              {Role::decode, "18446744073709551616", {}, 0, 1, {}},
                                              {Role::decode, "7", "host:1", 0, 0, {}},
                                              {Role::prefill, "7", {}, -1, 2000, {}}});
        REQUIRE_FALSE(wrong.has_value());
        CHECK(wrong.error().message ==
              "discovery worker 1: needs a worker_id, a url, or both; "
              "discovery worker 2: worker_id \"07\" is not the decimal number that its reports hold; "
              "discovery worker 3: worker_id \"18446744073709551616\" is not the decimal number that its "
              "reports hold; "
              "discovery worker 4: url \"host:1\" is no address; it reads tcp://HOST:PORT or ipc://PATH; "
              "discovery worker 4: has 0 ranks; from 1 to 1024; "
              "discovery worker 5: worker_id \"7\" is listed twice; one entry has all its ranks; "
              "discovery worker 5: has 2000 ranks; from 1 to 1024; "
              "discovery worker 5: begins with rank -1; from 0 to 64511");
        CHECK_FALSE(StaticList::check({}).has_value());
        std::vector<StaticWorker> many;
        for (int i = 0; i < 17; ++i) many.push_back({Role::decode, std::to_string(i), {}, 0, 1024, {}});
        CHECK_FALSE(StaticList::check(many).has_value());
        many.pop_back();
        CHECK(StaticList::check(many).has_value());
    }
}
