// A journal folder with a loop and a disk of the test's own, and what it wrote read back.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "observe/journal_folder.hpp"
#include "observe/segment_names.hpp"
#include "support/fake_disk.hpp"
#include "support/fake_loop.hpp"
#include "support/temp_folder.hpp"
#include "wire/journal_reader.hpp"

namespace dynaplan::observe {

inline constexpr std::chrono::seconds long_enough{20};

// For what another thread is about to do and nobody announces. The bound only ends a test that has failed.
template <class Condition>
bool eventually(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + long_enough;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

inline Event report(std::int64_t i) {
    Event e;
    e.at = at_seconds(0.01 * static_cast<double>(i));
    FpmArrived& arrived = e.body.emplace<FpmArrived>();
    arrived.role = i % 2 == 0 ? Role::decode : Role::prefill;
    arrived.fpm.worker_id = "engine-" + std::to_string(i % 5);
    arrived.fpm.pass.counter_id = i;
    arrived.fpm.pass.wall_time = 0.012;
    return e;
}

// One segment as its reader finds it.
struct Segment {
    wire::JournalHeader header;
    std::string planner_state;           // of its checkpoint
    std::vector<std::int64_t> counters;  // of its reports
    std::uint64_t effects = 0;
    std::uint64_t events_dropped = 0;  // as its note says
    bool torn = false;
};

inline Segment read_segment(const std::string& path) {
    const std::string bytes = support::bytes_of(path);
    auto reader = wire::JournalReader::open(bytes);
    REQUIRE_MESSAGE(reader, path);
    Segment s;
    s.header = reader->header();
    Event event;
    for (;;) {
        const auto item = reader->next(event);
        REQUIRE_MESSAGE(item, (item ? "" : item.error().message));
        switch (item->kind) {
            case wire::JournalItemKind::event:
                REQUIRE_FALSE(s.planner_state.empty());
                s.counters.push_back(std::get<FpmArrived>(event.body).fpm.pass.counter_id);
                break;
            case wire::JournalItemKind::effect: ++s.effects; break;
            case wire::JournalItemKind::checkpoint:
                REQUIRE(s.planner_state.empty());
                s.planner_state = item->planner_state;
                CHECK(item->coordinator_state == "coordinator");
                break;
            case wire::JournalItemKind::note:
                REQUIRE(s.planner_state.empty());
                s.events_dropped += item->count;
                break;
            case wire::JournalItemKind::torn_tail: s.torn = true; return s;
            case wire::JournalItemKind::end: return s;
        }
    }
}

inline std::vector<SegmentFile> files_in(const std::string& folder) {
    const auto content = list_segments(folder);
    REQUIRE(content);
    return content->segments;
}
inline std::vector<Segment> segments_in(const std::string& folder) {
    std::vector<Segment> segments;
    for (const SegmentFile& file : files_in(folder)) segments.push_back(read_segment(file.path));
    return segments;
}
inline std::vector<std::int64_t> counters_in(const std::vector<Segment>& segments) {
    std::vector<std::int64_t> all;
    for (const Segment& s : segments) all.insert(all.end(), s.counters.begin(), s.counters.end());
    return all;
}
inline std::vector<std::int64_t> up_to(std::int64_t n) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back(i);
    return all;
}

struct Bench {
    support::TempFolder temp{support::memory_folder()};
    std::string folder = temp / "journal";
    support::FakeLoop loop;
    std::shared_ptr<support::FakeDisk> disk = std::make_shared<support::FakeDisk>();
    std::int64_t next = 0;  // report; the state of a checkpoint is its number
    std::size_t state_bytes = 0;

    JournalFolderOptions options() {
        JournalFolderOptions o;
        o.folder = folder;
        o.program_version = "0.1.0";
        o.disk = disk;
        o.sync_every = std::chrono::milliseconds{2};
        o.checkpoint = [this] {
            return SegmentStart{at_seconds(0.01 * static_cast<double>(next)), R"({"mode":"decode"})",
                                "before " + std::to_string(next) + std::string(state_bytes, '.'),
                                "coordinator"};
        };
        o.post = [this](std::function<void()> task) { loop.post(std::move(task)); };
        return o;
    }
    static std::unique_ptr<JournalFolder> open(JournalFolderOptions o) {
        auto journal = JournalFolder::open(std::move(o));
        REQUIRE_MESSAGE(journal, (journal ? "" : journal.error().message));
        return std::move(*journal);
    }
    void append(JournalFolder& journal, int n) {
        for (int i = 0; i < n; ++i) journal.append_event(report(next++));
    }
};

}  // namespace dynaplan::observe
