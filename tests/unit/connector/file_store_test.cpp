// What only the file store has to do: torn tails, damage, a disk that fails, a file that is rewritten.
#include "connector/file_store.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fake_disk.hpp"
#include "support/temp_folder.hpp"
#include "support/written_decisions.hpp"

namespace dynaplan::connector {

namespace {

using port::CommitResult;
using port::StoredState;
using support::acknowledgement;
using support::FakeDisk;
using support::half_in;
using support::publication;
using support::TempFolder;

void lock(FileStore& store) {
    const auto answer = store.try_lock();
    REQUIRE_MESSAGE(answer, store.trouble());
    REQUIRE(answer->held);
}
StoredState state_of(FileStore& store) {
    const auto answer = store.read();
    REQUIRE(answer);
    REQUIRE_MESSAGE(answer->state, store.trouble());
    return *answer->state;
}
CommitResult publish(FileStore& store, DecisionId id) {
    return store.commit(publication(state_of(store), id))->result;
}
void publish_up_to(FileStore& store, DecisionId last) {
    for (DecisionId id = 0; id <= last; ++id) REQUIRE(publish(store, id) == CommitResult::ok);
}

struct Opened {
    explicit Opened(const std::string& folder, std::shared_ptr<FakeDisk> fake = std::make_shared<FakeDisk>(),
                    std::uint64_t rewrite_above = 1U << 20U)
        : disk{std::move(fake)}, store{{folder, rewrite_above, disk}} {
        lock(store);
    }
    std::shared_ptr<FakeDisk> disk;
    FileStore store;
};

}  // namespace

TEST_CASE("file store: a torn tail of any length is cut off and reported, and nothing before it is lost") {
    const TempFolder folder{support::memory_folder()};
    std::string path;
    StoredState before;
    std::size_t size_before = 0;
    {
        Opened o{folder.path()};
        path = o.store.path();
        publish_up_to(o.store, 3);
        before = state_of(o.store);
        size_before = support::bytes_of(path).size();
        REQUIRE(publish(o.store, 4) == CommitResult::ok);
    }
    const std::string whole = support::bytes_of(path);
    for (std::size_t size = size_before + 1; size < whole.size(); ++size) {
        support::write_bytes(path, whole.substr(0, size));
        Opened o{folder.path()};
        CHECK(state_of(o.store) == before);
        const auto remarks = o.store.take_remarks();
        REQUIRE(remarks.size() == 1);
        CHECK(
            remarks[0].starts_with(path + ": cut off a torn tail at offset " + std::to_string(size_before)));
        CHECK(support::bytes_of(path).size() == size_before);
    }
    // What was torn can be written again.
    Opened o{folder.path()};
    CHECK(o.store.take_remarks().empty());
    CHECK(publish(o.store, 4) == CommitResult::ok);
    CHECK(support::bytes_of(path) == whole);
}

TEST_CASE("file store: a last line with a wrong checksum is a torn tail") {
    const TempFolder folder;
    std::string path;
    {
        Opened o{folder.path()};
        path = o.store.path();
        publish_up_to(o.store, 2);
    }
    std::string bytes = support::bytes_of(path);
    bytes[bytes.size() - 3] = '\0';
    support::write_bytes(path, bytes);
    Opened o{folder.path()};
    CHECK(state_of(o.store).current == 1);
    CHECK(o.store.take_remarks().size() == 1);
}

TEST_CASE("file store: damage in the middle is an error that names file and offset, wherever it is") {
    const TempFolder folder{support::memory_folder()};
    std::string path;
    std::size_t second_line = 0;
    std::size_t last_line = 0;
    {
        Opened o{folder.path()};
        path = o.store.path();
        second_line = support::bytes_of(path).size();
        publish_up_to(o.store, 1);
        last_line = support::bytes_of(path).size();
        REQUIRE(publish(o.store, 2) == CommitResult::ok);
    }
    const std::string whole = support::bytes_of(path);
    for (std::size_t at = 0; at < last_line; ++at) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
        support::write_bytes(path, bytes);
        FileStore store{{folder.path(), 1U << 20U, nullptr}};
        const auto answer = store.try_lock();
        REQUIRE_FALSE(answer);
        CAPTURE(answer.error().message);
        CHECK(answer.error().message.starts_with(path + ": offset "));
        CHECK_FALSE(store.held());
        CHECK_FALSE(store.read()->state);
        CHECK(support::bytes_of(path) == bytes);
    }
    std::string bytes = whole;
    bytes[second_line + 30] = '#';
    support::write_bytes(path, bytes);
    FileStore store{{folder.path(), 1U << 20U, nullptr}};
    const auto answer = store.try_lock();
    REQUIRE_FALSE(answer);
    CHECK(answer.error().message.starts_with(path + ": offset " + std::to_string(second_line) +
                                             ": the line is damaged, but a sound one follows at offset "));
}

TEST_CASE(
    "file store: a full disk fails a commit at any byte, and the store works again when there is room") {
    const TempFolder folder;
    Opened o{folder.path()};
    publish_up_to(o.store, 1);
    const StoredState before = state_of(o.store);
    const std::string bytes_before = support::bytes_of(o.store.path());
    for (std::int64_t room = 0; room < 200; room += 7) {
        o.disk->room = room;
        CHECK(o.store.commit(publication(before, 2))->result == CommitResult::failed);
        CHECK(o.store.trouble() == o.store.path() + ": No space left on device");
        CHECK(state_of(o.store) == before);
        CHECK(support::bytes_of(o.store.path()) == bytes_before);
    }
    o.disk->room = FakeDisk::endless;
    CHECK(publish(o.store, 2) == CommitResult::ok);
    CHECK(o.store.trouble().empty());
    o.store.release();
    Opened again{folder.path()};
    CHECK(half_in(state_of(again.store)).empty());
    CHECK(state_of(again.store).current == 2);
}

TEST_CASE("file store: a line that reached the file but not surely the disk is taken back") {
    const TempFolder folder;
    Opened o{folder.path()};
    publish_up_to(o.store, 1);
    const StoredState before = state_of(o.store);
    o.disk->sync_error = EIO;
    // Neither the line nor its removal can be brought to the disk.
    CHECK(o.store.commit(publication(before, 2))->result == CommitResult::unknown);
    CHECK_FALSE(o.store.read()->state);
    CHECK(o.store.trouble() == o.store.path() + ": Input/output error");
    CHECK(o.store.commit(publication(before, 2))->result == CommitResult::failed);
    o.disk->sync_error = 0;
    CHECK(state_of(o.store) == before);
    CHECK(publish(o.store, 2) == CommitResult::ok);
    o.store.release();
    Opened again{folder.path()};
    CHECK(half_in(state_of(again.store)).empty());
    CHECK(state_of(again.store).current == 2);
}

TEST_CASE("file store: a lost answer may turn out as stored after a restart, and then all of it is") {
    const TempFolder folder;
    {
        Opened o{folder.path()};
        publish_up_to(o.store, 1);
        o.disk->sync_error = EIO;
        o.disk->truncate_error = EIO;
        CHECK(o.store.commit(publication(state_of(o.store), 2))->result == CommitResult::unknown);
    }
    Opened again{folder.path()};
    CHECK(state_of(again.store).current == 2);
    CHECK(half_in(state_of(again.store)).empty());
}

TEST_CASE("file store: the file is rewritten when it has grown, and stays small") {
    const TempFolder folder{support::memory_folder()};
    Opened o{folder.path(), std::make_shared<FakeDisk>(), 8000};
    std::size_t largest = 0;
    for (DecisionId id = 0; id < 500; ++id) {
        REQUIRE(publish(o.store, id) == CommitResult::ok);
        REQUIRE(o.store.commit(acknowledgement(state_of(o.store), id))->result == CommitResult::ok);
        largest = std::max(largest, support::bytes_of(o.store.path()).size());
    }
    // Twice the state of 16 records of at most 800 bytes, and one transaction.
    CHECK(largest < 30'000);
    CHECK_FALSE(std::filesystem::exists(o.store.path() + ".new"));
    const StoredState before = state_of(o.store);
    o.store.release();
    Opened again{folder.path()};
    CHECK(state_of(again.store) == before);
    CHECK(half_in(before).empty());
}

TEST_CASE("file store: commits go on while the file cannot be rewritten") {
    const TempFolder folder;
    Opened o{folder.path(), std::make_shared<FakeDisk>(), 4000};
    SUBCASE("the new file cannot be made") { o.disk->create_error = ENOSPC; }
    SUBCASE("the new file cannot take the name") { o.disk->rename_error = EACCES; }
    publish_up_to(o.store, 60);
    CHECK(support::bytes_of(o.store.path()).size() > 20'000);
    CHECK_FALSE(std::filesystem::exists(o.store.path() + ".new"));
    o.disk->create_error = 0;
    o.disk->rename_error = 0;
    for (DecisionId id = 61; id < 80; ++id) REQUIRE(publish(o.store, id) == CommitResult::ok);
    CHECK(support::bytes_of(o.store.path()).size() < 20'000);
    CHECK(half_in(state_of(o.store)).empty());
}

// A new name that a power cut could still undo would take the commits after it along.
TEST_CASE("file store: nothing is answered ok while a new file's name is not surely on the disk") {
    const TempFolder folder;
    Opened o{folder.path(), std::make_shared<FakeDisk>(), 1};
    o.disk->sync_folder_error = EIO;
    DecisionId id = 0;
    CommitResult result = CommitResult::ok;
    while (result == CommitResult::ok && id < 20) {
        StoredState expected;
        expected.revision = static_cast<std::uint64_t>(id);
        result = o.store.commit(publication(expected, id++))->result;
    }
    CHECK(result == CommitResult::failed);
    CHECK(o.store.trouble() == folder.path() + ": Input/output error");
    CHECK_FALSE(o.store.read()->state);
    o.disk->sync_folder_error = 0;
    CHECK(publish(o.store, id - 1) == CommitResult::ok);
    CHECK(half_in(state_of(o.store)).empty());
}

TEST_CASE("file store: a file that was deleted under the store is written anew") {
    const TempFolder folder;
    Opened o{folder.path()};
    publish_up_to(o.store, 5);
    std::filesystem::remove(o.store.path());
    CHECK(publish(o.store, 6) == CommitResult::ok);
    o.store.release();
    Opened again{folder.path()};
    CHECK(state_of(again.store).current == 6);
    CHECK(half_in(state_of(again.store)).empty());
}

TEST_CASE("file store: a look at it says when trouble is over, and when the lock was taken away") {
    const TempFolder folder;
    Opened o{folder.path()};
    publish_up_to(o.store, 1);
    CHECK(o.store.check());
    o.disk->room = 0;
    CHECK(publish(o.store, 2) == CommitResult::failed);
    CHECK_FALSE(o.store.check());
    CHECK_MESSAGE(o.store.trouble().find("No space left") != std::string::npos, o.store.trouble());
    o.disk->room = FakeDisk::endless;
    CHECK(o.store.check());
    CHECK(o.store.trouble().empty());
    CHECK(state_of(o.store).current == 1);
    REQUIRE(std::filesystem::remove(folder.path() + "/lock"));
    CHECK_FALSE(o.store.check());
    CHECK_FALSE(o.store.held());
    CHECK_MESSAGE(o.store.trouble().find("lock") != std::string::npos, o.store.trouble());
    lock(o.store);
    CHECK(o.store.check());
    CHECK(publish(o.store, 2) == CommitResult::ok);
}

TEST_CASE("file store: a folder that cannot be used is an error that names it") {
    const TempFolder folder;
    support::write_bytes(folder / "file", "x");
    for (const std::string& path : {folder / "file", folder / "file/below"}) {
        FileStore store{{path, 1U << 20U, nullptr}};
        const auto answer = store.try_lock();
        REQUIRE_FALSE(answer);
        CHECK(answer.error().message == path + ": Not a directory");
        CHECK(store.commit({})->result == CommitResult::failed);
    }
    support::write_bytes(folder / "decisions", "decisions of something else\n");
    FileStore store{{folder.path(), 1U << 20U, nullptr}};
    const auto answer = store.try_lock();
    REQUIRE_FALSE(answer);
    CHECK(answer.error().message == (folder / "decisions") + ": offset 0: not a decisions file of version 1");
}

// The kernel's own refusals, not a fake's: files may not grow beyond a limit, whoever the user is.
TEST_CASE("file store: a limit on file sizes is a full disk") {
    const TempFolder folder;
    Opened o{folder.path()};
    publish_up_to(o.store, 1);
    const StoredState before = state_of(o.store);
    rlimit old{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit low = old;
    low.rlim_cur = support::bytes_of(o.store.path()).size() + 100;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &low) == 0);
    const auto failed = o.store.commit(publication(before, 2));
    const std::string trouble = o.store.trouble();
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
    std::signal(SIGXFSZ, handler);
    CHECK(failed->result == CommitResult::failed);
    CHECK(trouble == o.store.path() + ": File too large");
    CHECK(state_of(o.store) == before);
    CHECK(publish(o.store, 2) == CommitResult::ok);
}

TEST_CASE("file store: a file system without room fails commits until it has some again") {
    const TempFolder folder;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=0700") != 0) {
        MESSAGE("not tried: a small tmpfs cannot be mounted here");
        return;
    }
    {
        Opened o{folder / "store"};
        DecisionId id = 0;
        while (id < 1000 && publish(o.store, id) == CommitResult::ok) ++id;
        REQUIRE(id > 10);
        REQUIRE(id < 1000);
        CHECK(o.store.trouble().ends_with(": No space left on device"));
        CHECK(half_in(state_of(o.store)).empty());
        CHECK(state_of(o.store).current == id - 1);
        REQUIRE(::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=1m") == 0);
        CHECK(publish(o.store, id) == CommitResult::ok);
        o.store.release();
        Opened again{folder / "store"};
        CHECK(state_of(again.store).current == id);
        CHECK(half_in(state_of(again.store)).empty());
    }
    CHECK(::umount(folder.path().c_str()) == 0);
}

}  // namespace dynaplan::connector
