// The disk of this machine, and what else is asked of its files.
#pragma once

#include <memory>
#include <string>

#include "port/disk.hpp"

namespace dynaplan::port {

class PosixDisk : public Disk {
public:
    [[nodiscard]] int create(const std::string& path, FileDescriptor& out) override;
    [[nodiscard]] int open(const std::string& path, FileDescriptor& out) override;
    [[nodiscard]] int write(int fd, std::string_view bytes, std::size_t& written) override;
    [[nodiscard]] int sync(int fd) override;
    [[nodiscard]] int truncate(int fd, std::uint64_t size) override;
    [[nodiscard]] int rename(const std::string& from, const std::string& to) override;
    [[nodiscard]] int remove(const std::string& path) override;
    [[nodiscard]] int sync_folder(const std::string& path) override;
};

[[nodiscard]] std::shared_ptr<Disk> posix_disk();

// The file's first bytes, `limit` at most. 0 or an errno.
[[nodiscard]] int read_file(const std::string& path, std::uint64_t limit, std::string& out);
// Makes the folder, and those above it, where they are missing. 0 or an errno.
[[nodiscard]] int make_folder(const std::string& path);
// What an errno means, in words.
[[nodiscard]] std::string reason_of(int error);

}  // namespace dynaplan::port
