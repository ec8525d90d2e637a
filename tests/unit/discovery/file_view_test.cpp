// The store's folders, read at times that the test makes up.
#include "discovery/file_view.hpp"

#include "file_store.hpp"
#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

namespace {

struct Rig {
    explicit Rig(bool buckets = true) {
        if (buckets) store.make_buckets();
    }
    Result<void> scan() { return view.scan(steady, wall); }
    void pass(std::chrono::milliseconds time) {
        steady += time;
        wall += time;
    }

    FileStore store;
    RosterRig rig;
    FileView view{store.root(), seconds{10}, rig.roster};
    FileView::Steady steady{seconds{1000}};
    FileView::Wall wall = std::chrono::system_clock::now();
};

const std::string key = card_key("backend", 7);
const std::string channel = "v1/event_channels/dynamo/backend/forward-pass-metrics/7";

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("file view: records come and go with their files, both eras' ways of writing") {
        Rig r;
        r.store.link_in(key, card_value(7));
        r.store.rename_in(channel, april_channel_value(zmq("tcp://h:1")));
        r.store.write_unfinished(card_key("backend", 8), card_value(8));
        std::filesystem::create_directories(r.store.path_of(card_key("backend", 9)));
        std::filesystem::create_symlink(r.store.path_of(key), r.store.path_of(card_key("backend", 10)));
        support::write_bytes(r.store.root() + "/v1/mdc/notes.txt", "mine");
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(r.rig.channels.taken() == Lines{"+tcp://h:1 decode"});
        r.store.rename_in(key, card_value(7, R"("max_num_seqs":9)"));
        r.store.rename_in(channel, april_channel_value(zmq("tcp://h:2")));
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(r.rig.channels.taken() == Lines{"+tcp://h:2 decode"});
        r.store.remove(key);
        r.store.remove(channel);
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"-decode 7.0"});
        CHECK(r.rig.channels.taken() == Lines{'-' + channel});
        CHECK(r.rig.roster.counts().refused.empty());
    }

    TEST_CASE("file view: a file that nobody touches is gone after its time, and is left where it is") {
        Rig r;
        r.store.link_in(key, card_value(7));
        r.store.touch(key, r.wall - seconds{4});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        r.pass(seconds{6});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken().empty());
        r.pass(std::chrono::milliseconds{1});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"-decode 7.0"});
        CHECK(std::filesystem::exists(r.store.path_of(key)));
        r.store.touch(key, r.wall);
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
    }

    TEST_CASE("file view: a file that was stale from the beginning never joins") {
        Rig r;
        r.store.link_in(key, card_value(7));
        r.store.touch(key, r.wall - seconds{11});
        REQUIRE(r.scan().has_value());
        r.pass(seconds{2});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken().empty());
        CHECK(r.rig.roster.counts().read == 0);
    }

    TEST_CASE("file view: touching is no change, and keeps the worker") {
        Rig r;
        r.store.link_in(key, card_value(7));
        REQUIRE(r.scan().has_value());
        for (int i = 0; i < 40; ++i) {
            r.pass(seconds{3});
            r.store.touch(key, r.wall);
            REQUIRE(r.scan().has_value());
        }
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(r.rig.roster.counts().read == 1);
    }

    TEST_CASE("file view: clocks that are far off, or jump, end nobody who is touched") {
        Rig r;
        r.store.link_in(key, card_value(7));
        r.store.touch(key, r.wall);
        REQUIRE(r.scan().has_value());
        r.wall += std::chrono::hours{5};  // our clock is set
        r.pass(seconds{2});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        // The owner's clock is another machine's, five hours behind now; its touches still count.
        for (int i = 1; i <= 10; ++i) {
            r.pass(seconds{3});
            r.store.touch(key, r.wall - std::chrono::hours{5});
            REQUIRE(r.scan().has_value());
        }
        CHECK(r.rig.events.taken().empty());
        r.wall -= std::chrono::hours{10};  // files are from the future, but nobody touches them
        r.pass(seconds{11});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"-decode 7.0"});
    }

    TEST_CASE("file view: a file written in place is read again when somebody says so, or in time") {
        Rig r;
        const std::string one = card_value(7, R"("max_num_seqs":1)");
        const std::string two = card_value(7, R"("max_num_seqs":2)");
        REQUIRE(one.size() == two.size());
        r.store.write_in_place(key, one);
        r.store.touch(key, r.wall);
        REQUIRE(r.scan().has_value());
        r.store.write_in_place(key, two);
        r.store.touch(key, r.wall + seconds{1});
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.capabilities["7"].max_num_seqs == 1);
        r.view.written(wire::Bucket::model_cards, wire::file_name_of("dynamo/backend/generate/7"));
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.capabilities["7"].max_num_seqs == 2);
        r.store.write_in_place(key, one);
        for (int i = 1; i <= 10; ++i) {
            r.pass(seconds{3});
            r.store.touch(key, r.wall);
            REQUIRE(r.scan().has_value());
        }
        CHECK(r.rig.events.capabilities["7"].max_num_seqs == 1);
    }

    TEST_CASE("file view: a torn file is skipped and read again when it is whole") {
        Rig r;
        const std::string whole = card_value(7);
        r.store.write_in_place(key, std::string_view{whole}.substr(0, 40));
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.refused("bad_value") == 1);
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.refused("bad_value") == 1);  // not again and again
        r.store.write_in_place(key, whole);
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
    }

    TEST_CASE("file view: folders may come later; a bucket that goes takes its records along") {
        Rig r{false};
        const auto missing = r.scan();
        REQUIRE_FALSE(missing.has_value());
        CHECK(missing.error().message.find(r.store.root()) != std::string::npos);
        std::filesystem::create_directories(r.store.root());
        REQUIRE(r.scan().has_value());
        r.store.make_buckets();
        r.store.link_in(key, card_value(7));
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        std::filesystem::remove_all(r.store.root() + "/v1");
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken() == Lines{"-decode 7.0"});
    }

    TEST_CASE("file view: a store that is away for a while ends nobody, however long") {
        Rig r;
        r.store.link_in(key, card_value(7));
        REQUIRE(r.scan().has_value());
        const std::string elsewhere = r.store.root() + "-moved";
        std::filesystem::rename(r.store.root(), elsewhere);
        for (int i = 0; i < 20; ++i) {
            r.pass(seconds{2});
            REQUIRE_FALSE(r.scan().has_value());
        }
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        std::filesystem::rename(elsewhere, r.store.root());
        r.store.touch(key, r.wall);
        REQUIRE(r.scan().has_value());
        CHECK(r.rig.events.taken().empty());
        // Something that is no folder stands in the bucket's place.
        std::filesystem::rename(r.store.root() + "/v1/mdc", elsewhere);
        support::write_bytes(r.store.root() + "/v1/mdc", "");
        const auto failed = r.scan();
        REQUIRE_FALSE(failed.has_value());
        CHECK(failed.error().message == r.store.root() + "/v1/mdc: Not a directory");
        CHECK(r.rig.events.taken().empty());
    }

    TEST_CASE("file view: names with every kind of byte are read back") {
        Rig r;
        Scope scope{"ns.one", {{}, {{"worker-é*", "gen"}}}};
        RosterRig odd{RosterOptions{scope, {}, {}, {}}};
        FileView view{r.store.root(), seconds{10}, odd.roster};
        r.store.link_in("v1/mdc/ns.one/worker-é*/gen/ff", card_value(255));
        r.store.link_in(
            "v1/event_channels/namespace/ns%2Eone/component/worker-%C3%A9%2A/endpoint/gen/topic/"
            "forward-pass-metrics/2a",
            R"({"type":"EventChannel","scope":{"kind":"endpoint","endpoint":{"namespace":"ns.one",)"
            R"("component":"worker-é*","name":"gen"}},"topic":"forward-pass-metrics","instance_id":42,)"
            R"("transport":)" +
                zmq("tcp://h:1") + "}");
        REQUIRE(view.scan(r.steady, r.wall).has_value());
        CHECK(odd.events.taken() == Lines{"+decode 255.0"});
        CHECK(odd.channels.taken() == Lines{"+tcp://h:1 decode"});
    }
}
