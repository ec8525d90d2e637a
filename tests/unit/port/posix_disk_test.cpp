#include "port/posix_disk.hpp"

#include <cerrno>
#include <filesystem>

#include <doctest/doctest.h>
#include <unistd.h>

#include "support/temp_folder.hpp"

namespace dynaplan::port {

using support::TempFolder;

TEST_CASE("disk: what is appended, cut and appended again is what the file holds") {
    const TempFolder folder;
    PosixDisk disk;
    const std::string path = folder / "file";
    FileDescriptor file;
    REQUIRE(disk.create(path, file) == 0);
    CHECK(disk.write_all(file.get(), "one two") == 0);
    CHECK(disk.truncate(file.get(), 4) == 0);
    CHECK(disk.write_all(file.get(), "three") == 0);
    CHECK(disk.sync(file.get()) == 0);
    FileDescriptor again;
    REQUIRE(disk.open(path, again) == 0);
    CHECK(disk.write_all(again.get(), "!") == 0);
    std::string bytes;
    CHECK(read_file(path, 100, bytes) == 0);
    CHECK(bytes == "one three!");
    CHECK(read_file(path, 3, bytes) == 0);
    CHECK(bytes == "one");
    REQUIRE(disk.create(path, file) == 0);
    CHECK(read_file(path, 100, bytes) == 0);
    CHECK(bytes.empty());
}

TEST_CASE("disk: every call answers the errno of what failed") {
    const TempFolder folder;
    PosixDisk disk;
    FileDescriptor file;
    std::string bytes;
    const std::string missing = folder / "missing/file";
    CHECK(disk.create(missing, file) == ENOENT);
    CHECK(disk.open(folder / "file", file) == ENOENT);
    CHECK_FALSE(file.is_open());
    CHECK(disk.rename(missing, folder / "file") == ENOENT);
    CHECK(disk.remove(missing) == ENOENT);
    CHECK(disk.sync_folder(folder / "missing") == ENOENT);
    CHECK(disk.sync_folder(folder.path()) == 0);
    CHECK(read_file(missing, 10, bytes) == ENOENT);
    CHECK(read_file(folder.path(), 10, bytes) == EISDIR);
    CHECK(disk.write_all(-1, "x") == EBADF);
    CHECK(disk.sync(-1) == EBADF);
    CHECK(disk.truncate(-1, 0) == EBADF);
    CHECK(reason_of(ENOSPC) == "No space left on device");
}

TEST_CASE("disk: a folder is made with those above it, and a file in its place is an error") {
    const TempFolder folder;
    CHECK(make_folder(folder / "a/b") == 0);
    CHECK(make_folder(folder / "a/b") == 0);
    CHECK(std::filesystem::is_directory(folder / "a/b"));
    support::write_bytes(folder / "file", "x");
    CHECK(make_folder(folder / "file") == ENOTDIR);
    CHECK(make_folder(folder / "file/below") == ENOTDIR);
}

TEST_CASE("disk: a descriptor is closed once, with its last owner") {
    const TempFolder folder;
    PosixDisk disk;
    FileDescriptor first;
    REQUIRE(disk.create(folder / "file", first) == 0);
    const int fd = first.get();
    FileDescriptor second{std::move(first)};
    CHECK_FALSE(first.is_open());
    CHECK(second.get() == fd);
    CHECK(::lseek(fd, 0, SEEK_CUR) == 0);
    second.close();
    CHECK(::lseek(fd, 0, SEEK_CUR) == -1);
}

}  // namespace dynaplan::port
