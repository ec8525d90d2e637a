// The real disk with switches: full after so many bytes, calls that fail, a sync that blocks until it is let
// go. Any thread may turn them. A sync that succeeds does not reach the kernel: no test cuts the power, and
// the disk of a busy machine takes milliseconds for each.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>

#include "port/posix_disk.hpp"

namespace dynaplan::support {

class FakeDisk final : public port::PosixDisk {
public:
    static constexpr std::int64_t endless = INT64_MAX;
    std::atomic<std::int64_t> room{endless};  // bytes that can still be written, then ENOSPC
    std::atomic<int> sync_error{0};           // an errno: every sync answers it
    std::atomic<int> truncate_error{0};
    std::atomic<int> create_error{0};
    std::atomic<int> rename_error{0};
    std::atomic<int> sync_folder_error{0};
    std::atomic<int> syncs{0};           // asked for so far
    std::atomic<bool> sync_held{false};  // syncs wait while it is set

    void hold_syncs() { sync_held = true; }
    void let_go() {
        sync_held = false;
        sync_held.notify_all();
    }

    int create(const std::string& path, port::FileDescriptor& out) override {
        const int error = create_error;
        return error != 0 ? error : PosixDisk::create(path, out);
    }
    int write(int fd, std::string_view bytes, std::size_t& written) override {
        const std::int64_t left = room;
        if (left == endless) return PosixDisk::write(fd, bytes, written);
        if (left <= 0) return ENOSPC;
        if (const int error = PosixDisk::write(fd, bytes.substr(0, static_cast<std::size_t>(left)), written))
            return error;
        room -= static_cast<std::int64_t>(written);
        return 0;
    }
    int sync(int fd) override {
        ++syncs;
        syncs.notify_all();
        sync_held.wait(true);
        if (fd < 0) return EBADF;
        return sync_error;
    }
    int truncate(int fd, std::uint64_t size) override {
        const int error = truncate_error;
        return error != 0 ? error : PosixDisk::truncate(fd, size);
    }
    int rename(const std::string& from, const std::string& to) override {
        const int error = rename_error;
        return error != 0 ? error : PosixDisk::rename(from, to);
    }
    int sync_folder(const std::string& path) override {
        if (path.empty()) return ENOENT;
        return sync_folder_error;
    }
};

}  // namespace dynaplan::support
