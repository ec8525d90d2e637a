// Two processes and one store: who may write, and what is left of a writer that was killed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <doctest/doctest.h>

#include "connector/file_store.hpp"
#include "support/child_process.hpp"
#include "support/temp_folder.hpp"
#include "support/written_decisions.hpp"

namespace dynaplan::connector {

namespace {

using support::ChildProcess;
using support::TempFolder;

FileStoreOptions in(const std::string& folder) { return {folder, 1U << 20U, nullptr}; }

port::StoredState state_of(FileStore& store) {
    const auto answer = store.read();
    REQUIRE_MESSAGE((answer && answer->state), store.trouble());
    return *answer->state;
}

// "stored 7": the word and the id.
struct Said {
    std::string word;
    DecisionId id = -1;
};
Said parse(const std::string& line) {
    const auto blank = line.find(' ');
    REQUIRE_MESSAGE(blank != std::string::npos, line);
    return {line.substr(0, blank), std::stoll(line.substr(blank + 1))};
}

}  // namespace

TEST_CASE("file store: of two in one folder the second is told who holds the lock, and takes over") {
    const TempFolder folder;
    FileStore first{in(folder.path())};
    FileStore second{in(folder.path())};
    REQUIRE(first.try_lock()->held);
    REQUIRE(first.commit(support::publication({}, 0))->result == port::CommitResult::ok);
    for (int i = 0; i < 3; ++i) {
        const auto answer = second.try_lock();
        REQUIRE(answer);
        CHECK_FALSE(answer->held);
        CHECK(answer->other == "held by pid " + std::to_string(::getpid()));
        CHECK(second.commit(support::publication(state_of(second), 1))->result == port::CommitResult::failed);
    }
    // Standing by it reads what the first one writes.
    CHECK(state_of(second).current == 0);
    REQUIRE(first.commit(support::publication(state_of(first), 1))->result == port::CommitResult::ok);
    CHECK(state_of(second).current == 1);
    first.release();
    CHECK(first.commit(support::publication(state_of(first), 2))->result == port::CommitResult::failed);
    REQUIRE(second.try_lock()->held);
    CHECK(second.commit(support::publication(state_of(second), 2))->result == port::CommitResult::ok);
    CHECK(first.try_lock()->other == "held by pid " + std::to_string(::getpid()));
}

TEST_CASE("file store: a holder whose lock file was deleted writes no more, so that there are never two") {
    const TempFolder folder;
    FileStore first{in(folder.path())};
    FileStore second{in(folder.path())};
    REQUIRE(first.try_lock()->held);
    REQUIRE(::unlink((folder / "lock").c_str()) == 0);
    REQUIRE(second.try_lock()->held);
    CHECK(first.commit(support::publication({}, 0))->result == port::CommitResult::failed);
    CHECK(first.trouble() == folder.path() + "/lock: was deleted or replaced, the lock is lost");
    CHECK_FALSE(first.held());
    CHECK(second.commit(support::publication({}, 0))->result == port::CommitResult::ok);
}

TEST_CASE("file store: a living process holds the lock, a dead one does not") {
    const TempFolder folder{support::memory_folder()};
    ChildProcess writer{{DYNAPLAN_DECISION_WRITER, folder.path()}};
    REQUIRE(writer.line());
    FileStore store{in(folder.path())};
    const auto answer = store.try_lock();
    REQUIRE(answer);
    CHECK_FALSE(answer->held);
    CHECK(answer->other == "held by pid " + std::to_string(writer.pid()));
    // It writes all the while, and rewrites its file: a stand-by always reads a whole state.
    for (int i = 0; i < 200; ++i) REQUIRE(support::half_in(state_of(store)).empty());
    ChildProcess late{{DYNAPLAN_DECISION_WRITER, folder.path()}};
    CHECK(late.line() == "waiting: held by pid " + std::to_string(writer.pid()));
    writer.kill_and_wait();
    REQUIRE(store.try_lock());
    CHECK(store.held());
    CHECK(support::half_in(state_of(store)).empty());
}

TEST_CASE("file store: killed at random points it loses no answered decision and never repeats an id") {
    const bool thorough = std::getenv("DYNAPLAN_LONG") != nullptr;
    const TempFolder folder{thorough ? std::filesystem::temp_directory_path() : support::memory_folder()};
    const int rounds = thorough ? 200 : 50;
    std::minstd_rand random{20260421};
    DecisionId stored = -1;        // the newest that was answered as stored, in any life
    DecisionId acknowledged = -1;  // likewise
    int torn = 0;
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        DecisionId on_disk = -1;  // when this life began
        {
            FileStore store{in(folder.path())};
            if (const auto state = state_of(store); state.current) on_disk = *state.current;
        }
        {
            ChildProcess writer{{DYNAPLAN_DECISION_WRITER, folder.path()}};
            DecisionId last = on_disk;
            const auto take = [&](const Said& said) {
                if (said.word == "stored") {
                    CHECK(said.id > last);
                    last = said.id;
                    stored = std::max(stored, said.id);
                } else {
                    REQUIRE(said.word == "acknowledged");
                    acknowledged = std::max(acknowledged, said.id);
                }
            };
            const auto kill_after = random() % 60;
            for (std::uint64_t n = 0; n < kill_after; ++n) {
                const auto line = writer.line();
                REQUIRE(line);
                take(parse(*line));
            }
            writer.kill_and_wait();
            // What it said before the kill and nobody had read yet counts as well.
            for (auto line = writer.line(); line; line = writer.line()) take(parse(*line));
        }
        FileStore store{in(folder.path())};
        const auto lock = store.try_lock();
        REQUIRE_MESSAGE(lock, store.trouble());
        REQUIRE(lock->held);
        torn += static_cast<int>(store.take_remarks().size());
        const port::StoredState state = state_of(store);
        CHECK(support::half_in(state) == "");
        CHECK(state.current.value_or(-1) >= std::max(stored, on_disk));
        CHECK(state.acknowledged.value_or(-1) >= acknowledged);
    }
    MESSAGE(rounds << " kills, " << stored + 1 << " decisions, " << torn << " torn tails");
    CHECK(stored > rounds);
}

}  // namespace dynaplan::connector
