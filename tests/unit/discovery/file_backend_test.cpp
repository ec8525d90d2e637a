// A real folder, watched by the loop. rescan_every is an hour where a change has to wake the loop by itself.
#include "discovery/file_backend.hpp"

#include <functional>

#include "file_store.hpp"
#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

namespace {

constexpr std::chrono::hours never{1};

struct Rig {
    void open(std::chrono::milliseconds rescan_every, std::chrono::milliseconds time_to_live = seconds{600}) {
        backend = std::make_unique<FileBackend>(
            io,
            FileBackendOptions{store.root(), time_to_live, rescan_every,
                               [this](const SourceState& state) { states.push_back(state); }},
            rig.roster);
    }
    // Runs the loop until the condition holds; fails after a bound that only a fault can reach.
    void until(const std::function<bool()>& condition) {
        const auto deadline = std::chrono::steady_clock::now() + seconds{20};
        while (!condition() && std::chrono::steady_clock::now() < deadline) {
            io.restart();
            io.run_for(std::chrono::milliseconds{5});
        }
        REQUIRE(condition());
    }
    void until_events(const Lines& lines) {
        until([&] { return rig.events.lines.size() >= lines.size(); });
        CHECK(rig.events.taken() == lines);
    }

    boost::asio::io_context io{1};
    FileStore store;
    RosterRig rig;
    std::vector<SourceState> states;
    std::unique_ptr<FileBackend> backend;
};

const std::string key = card_key("backend", 7);

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("file backend: what is there at the start is known before anything else happens") {
        Rig r;
        r.store.make_buckets();
        r.store.link_in(key, card_value(7));
        r.open(never);
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        CHECK(r.backend->state() == SourceState{true, false, ""});
        CHECK(r.states.size() == 1);
    }

    TEST_CASE("file backend: links, renames, writes and deletions wake it") {
        Rig r;
        r.store.make_buckets();
        r.open(never);
        r.store.link_in(key, card_value(7, R"("max_num_seqs":1)"));
        r.until_events({"+decode 7.0"});
        r.store.rename_in(key, card_value(7, R"("max_num_seqs":2)"));
        r.until_events({"+decode 7.0"});
        CHECK(r.rig.events.capabilities["7"].max_num_seqs == 2);
        r.store.write_in_place(key, card_value(7, R"("max_num_seqs":3)"));
        r.until([&] { return r.rig.events.capabilities["7"].max_num_seqs == 3; });
        r.rig.events.taken();
        r.store.rename_in("v1/event_channels/dynamo/backend/forward-pass-metrics/7",
                          april_channel_value(zmq("tcp://h:1")));
        r.until([&] { return r.rig.channels.lines == Lines{"+tcp://h:1 decode"}; });
        r.store.remove(key);
        r.until_events({"-decode 7.0"});
    }

    TEST_CASE("file backend: folders that appear later, one after the other, are found") {
        Rig r;
        r.open(std::chrono::milliseconds{50});
        CHECK_FALSE(r.backend->state().complete);
        CHECK(r.backend->state().stale);
        CHECK(r.backend->state().reason.find(r.store.root() + ": no such folder") != std::string::npos);
        std::filesystem::create_directories(r.store.root());
        r.until([&] { return r.backend->state() == SourceState{true, false, ""}; });
        r.store.make_buckets();
        r.store.link_in(key, card_value(7));
        r.until_events({"+decode 7.0"});
        // Made anew, the folder is another one.
        std::filesystem::remove_all(r.store.root() + "/v1");
        r.until_events({"-decode 7.0"});
        r.store.make_buckets();
        r.store.link_in(key, card_value(7));
        r.until_events({"+decode 7.0"});
    }

    TEST_CASE("file backend: an owner that dies without a word is missed after the time to live") {
        Rig r;
        r.store.make_buckets();
        r.store.link_in(key, card_value(7));
        r.open(std::chrono::milliseconds{20}, std::chrono::milliseconds{300});
        CHECK(r.rig.events.taken() == Lines{"+decode 7.0"});
        r.until_events({"-decode 7.0"});
        CHECK(std::filesystem::exists(r.store.path_of(key)));
    }

    TEST_CASE("file backend: an outage shows and ends, and the workers stay") {
        Rig r;
        r.store.make_buckets();
        r.store.link_in(key, card_value(7));
        r.open(std::chrono::milliseconds{20});
        r.rig.events.taken();
        std::filesystem::rename(r.store.root(), r.store.root() + "-moved");
        r.until([&] { return r.backend->state().stale; });
        CHECK(r.backend->state().complete);
        CHECK(r.backend->counts().failed_scans > 0);
        std::filesystem::rename(r.store.root() + "-moved", r.store.root());
        r.until([&] { return !r.backend->state().stale; });
        CHECK(r.states.size() == 3);
        CHECK(r.rig.events.taken().empty());
    }

    TEST_CASE("file backend: a storm of changes is read in few scans, and every file is found") {
        Rig r;
        r.store.make_buckets();
        r.open(never);
        constexpr std::uint64_t files = 500;
        for (std::uint64_t id = 1; id <= files; ++id) {
            r.store.rename_in(card_key("backend", id), card_value(id));
        }
        r.until([&] { return r.rig.roster.state().workers.decode == files; });
        CHECK(r.backend->counts().scans < 100);
    }

    TEST_CASE("file backend: it may be closed while something is due") {
        Rig r;
        r.store.make_buckets();
        r.open(std::chrono::milliseconds{1});
        r.store.link_in(key, card_value(7));
        r.backend.reset();
        r.io.restart();
        CHECK(r.io.run_for(seconds{5}) < 10);
        CHECK(r.rig.events.taken().empty());
    }
}
