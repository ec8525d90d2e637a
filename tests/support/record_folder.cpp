// Runs the core on a seeded stream of reports, with a decision now and then, and keeps its journal in a
// folder, as a service would: several segments, a restart with an older state, and a disk that is full for a
// while. What is there afterwards is for `dynaplan replay` to verify.
//
// usage: record_folder FOLDER     prints the number of events dropped
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "core/config.hpp"
#include "observe/journal_folder.hpp"
#include "replay/session.hpp"
#include "support/fake_disk.hpp"
#include "support/fake_loop.hpp"

namespace {

using namespace dynaplan;

constexpr std::chrono::seconds limit{20};

PlannerConfig decode_config() {
    PlannerConfig c = config_of(Preset::dynaplan);
    c.mode = Mode::decode;
    c.itl = Millis{30.0};
    c.enable_throughput_scaling = false;
    c.max_gpu_budget = -1;
    c.decode_engine_num_gpu = 1;
    c.capabilities.decode.max_kv_tokens = 400'000;
    return c;
}

Event report(std::int64_t i) {
    Event e;
    e.at = at_seconds(0.1 * static_cast<double>(i));
    FpmArrived& arrived = e.body.emplace<FpmArrived>();
    arrived.role = Role::decode;
    arrived.fpm.worker_id = std::to_string(i % 3);
    ForwardPass& p = arrived.fpm.pass;
    p.counter_id = i / 3;
    p.scheduled.num_decode_requests = 4 + i % 29;
    p.scheduled.sum_decode_kv_tokens = p.scheduled.num_decode_requests * (1500 + 37 * (i % 11));
    p.wall_time = 0.012 + 1e-6 * static_cast<double>(p.scheduled.sum_decode_kv_tokens);
    return e;
}

// One life of a service.
struct Life {
    replay::Session session{decode_config(), replay::Assume::acknowledged};
    support::FakeLoop loop;
    std::shared_ptr<support::FakeDisk> disk = std::make_shared<support::FakeDisk>();
    std::unique_ptr<observe::JournalFolder> journal;

    explicit Life(const std::string& folder) {
        observe::JournalFolderOptions o;
        o.folder = folder;
        o.segment_bytes = 30'000;
        o.buffer_bytes = 64U << 10U;
        o.sync_every = std::chrono::milliseconds{1};
        o.program_version = "0.1.0";
        o.disk = disk;
        o.checkpoint = [this] {
            return observe::SegmentStart{session.now(), "{}", session.save_planner(),
                                         session.save_coordinator()};
        };
        o.post = [this](std::function<void()> task) { loop.post(std::move(task)); };
        auto opened = observe::JournalFolder::open(std::move(o));
        if (opened) journal = std::move(*opened);
    }
    bool feed(std::int64_t i) {
        std::vector<replay::Moment> moments;
        if (!session.feed(report(i), moments)) return false;
        for (const replay::Moment& m : moments) {
            journal->append_event(m.event);
            for (const Effect& effect : m.effects) journal->append_effect(effect);
        }
        while (!loop.empty()) loop.run_one();
        return true;
    }
};

int run(const std::string& folder) {
    {
        Life first{folder};
        if (!first.journal) return 1;
        for (std::int64_t i = 0; i < 2000; ++i) {
            if (!first.feed(i) || (i % 200 == 0 && !first.journal->flush(limit))) return 1;
        }
        if (first.journal->dropped() != 0 || !first.journal->flush_and_close(limit)) return 1;
    }
    Life second{folder};
    if (!second.journal) return 1;
    std::int64_t i = 2000;
    while (i < 3000) {
        if (!second.feed(i++) || (i % 200 == 0 && !second.journal->flush(limit))) return 1;
    }
    second.disk->room = 0;
    while (second.journal->dropped() < 500) {
        if (!second.feed(i++)) return 1;
    }
    second.disk->room = support::FakeDisk::endless;
    while (second.journal->state().degraded) {
        if (!second.loop.run_one()) return 1;
    }
    for (const std::int64_t end = i + 500; i < end;) {
        if (!second.feed(i++)) return 1;
    }
    if (!second.journal->flush_and_close(limit)) return 1;
    std::printf("%llu\n", static_cast<unsigned long long>(second.journal->dropped()));
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 2 ? run(argv[1]) : 2; }
