#include "bus/link_table.hpp"

#include <doctest/doctest.h>

#include "unit/bus/rig.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using Told = std::vector<bool>;

TEST_SUITE("unit") {
    TEST_CASE("links: one publisher of several is enough, losing the last is an outage") {
        testing::Rig rig;
        LinkTable links{rig.seen, rig.counts};
        CHECK(rig.counts.trouble == "no publisher is known yet");
        links.add("a", "tcp://a");
        links.add("b", "tcp://b");
        CHECK_FALSE(rig.counts.connected);
        CHECK(rig.counts.trouble == "2 of 2 publishers do not answer: tcp://a, tcp://b");
        CHECK(rig.seen.links.empty());
        links.set("a", true);
        CHECK(rig.counts.connected);
        CHECK(rig.counts.trouble == "1 of 2 publishers do not answer: tcp://b");
        links.set("b", true);
        CHECK(rig.counts.trouble.empty());
        links.set("a", false);
        links.set("a", false);
        CHECK(rig.seen.links == Told{true});
        links.set("b", false);
        CHECK(rig.seen.links == Told{true, false});
        links.set("a", true);
        CHECK(rig.seen.links == Told{true, false, true});
        CHECK(rig.counts.links_up == 3);
        CHECK(rig.counts.links_down == 2);
    }

    TEST_CASE("links: without any publisher the bus is not connected, which is no outage") {
        testing::Rig rig;
        LinkTable links{rig.seen, rig.counts};
        links.add("a", "tcp://a");
        links.set("a", true);
        links.remove("a");
        links.remove("unknown");
        CHECK_FALSE(rig.counts.connected);
        CHECK(rig.seen.links == Told{true});
        // One that has not answered yet is none either.
        links.add("b", "tcp://b");
        CHECK(rig.seen.links == Told{true});
    }

    TEST_CASE("links: an outage ends when the lost publishers are said to be gone") {
        testing::Rig rig;
        LinkTable links{rig.seen, rig.counts};
        links.add("a", "tcp://a");
        links.set("a", true);
        links.set("a", false);
        CHECK(rig.seen.links == Told{true, false});
        links.remove("a");
        CHECK(rig.seen.links == Told{true, false, true});
        CHECK_FALSE(rig.counts.connected);
    }

    TEST_CASE("links: a publisher that moved stays lost until it answers") {
        testing::Rig rig;
        LinkTable links{rig.seen, rig.counts};
        links.add("a", "tcp://a");
        links.set("a", true);
        links.add("a", "tcp://elsewhere");
        CHECK(rig.seen.links == Told{true, false});
        links.add("a", "tcp://third");
        CHECK(rig.seen.links == Told{true, false});
        links.set("a", true);
        CHECK(rig.seen.links == Told{true, false, true});
    }

    TEST_CASE("links: an address that cannot be used is named with its reason, and not all are listed") {
        testing::Rig rig;
        LinkTable links{rig.seen, rig.counts};
        links.add("a", "nonsense", "neither tcp nor ipc");
        CHECK(rig.counts.trouble == "1 of 1 publisher does not answer: nonsense (neither tcp nor ipc)");
        for (const char* key : {"b", "c", "d", "e"}) links.add(key, key);
        CHECK(rig.counts.trouble ==
              "5 of 5 publishers do not answer: nonsense (neither tcp nor ipc), b, c, ...");
    }
}
