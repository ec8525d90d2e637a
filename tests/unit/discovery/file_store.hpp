// A file store as Dynamo's processes keep it, in a temporary folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_folder.hpp"
#include "wire/discovery_key.hpp"

namespace dynaplan::discovery {

using std::chrono::seconds;

class FileStore {
public:
    [[nodiscard]] std::string root() const { return folder_ / "store"; }
    // `key` from the bucket on: "v1/mdc/dynamo/...".
    [[nodiscard]] std::string path_of(std::string_view key) const {
        const std::size_t cut = key.find('/', key.find('/') + 1);
        return root() + '/' + std::string{key.substr(0, cut)} + '/' + wire::file_name_of(key.substr(cut + 1));
    }
    void make_buckets() const {
        std::filesystem::create_directories(root() + "/v1/mdc");
        std::filesystem::create_directories(root() + "/v1/event_channels");
    }
    // April: an unfinished file takes the key's name in one step.
    void rename_in(std::string_view key, std::string_view value) {
        const std::string unfinished = write_unfinished(key, value);
        std::filesystem::rename(unfinished, path_of(key));
    }
    // August: a hard link, so that an existing file is left alone.
    void link_in(std::string_view key, std::string_view value) {
        const std::string unfinished = write_unfinished(key, value);
        REQUIRE(::link(unfinished.c_str(), path_of(key).c_str()) == 0);
        std::filesystem::remove(unfinished);
    }
    void write_in_place(std::string_view key, std::string_view value) const {
        support::write_bytes(path_of(key), std::string{value});
    }
    void remove(std::string_view key) const { REQUIRE(std::filesystem::remove(path_of(key))); }
    // Sets the time of the last touch.
    void touch(std::string_view key, std::chrono::system_clock::time_point at) const {
        const auto ns = std::chrono::nanoseconds{at.time_since_epoch()}.count();
        const timespec time{ns / 1'000'000'000, ns % 1'000'000'000};
        const std::array<timespec, 2> times{time, time};
        REQUIRE(::utimensat(AT_FDCWD, path_of(key).c_str(), times.data(), 0) == 0);
    }
    std::string write_unfinished(std::string_view key, std::string_view value) {
        const std::string path = std::filesystem::path{path_of(key)}.parent_path().string() +
                                 "/.tmp_00000000000000" + std::to_string(10 + unfinished_++ % 90);
        support::write_bytes(path, std::string{value});
        return path;
    }

private:
    support::TempFolder folder_;
    int unfinished_ = 0;
};

}  // namespace dynaplan::discovery
