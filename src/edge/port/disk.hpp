// What the decision store and the journal do to files, so that tests can hand them a disk that is full, slow
// or broken.
//
// Every call answers 0, or the errno of the system call that failed. None throws. Calls may block for as long
// as the disk takes. Any thread; one file is used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dynaplan::port {

// An open file, closed with its owner.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int fd) : fd_{fd} {}
    FileDescriptor(FileDescriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        if (this != &other) {
            close();
            fd_ = std::exchange(other.fd_, -1);
        }
        return *this;
    }
    ~FileDescriptor() { close(); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    void close();

private:
    int fd_ = -1;
};

class Disk {
public:
    Disk() = default;
    virtual ~Disk() = default;
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    // A new, empty file for appending; what stood there is cut off.
    [[nodiscard]] virtual int create(const std::string& path, FileDescriptor& out) = 0;
    // A file that is there, for appending.
    [[nodiscard]] virtual int open(const std::string& path, FileDescriptor& out) = 0;
    // Appends some of the bytes, at least one; `written` says how many.
    [[nodiscard]] virtual int write(int fd, std::string_view bytes, std::size_t& written) = 0;
    // The file's bytes and size are on the disk (fdatasync). After a failure nothing is known of what was
    // written since the last success, and asking again proves nothing: the kernel forgets such pages.
    [[nodiscard]] virtual int sync(int fd) = 0;
    [[nodiscard]] virtual int truncate(int fd, std::uint64_t size) = 0;
    [[nodiscard]] virtual int rename(const std::string& from, const std::string& to) = 0;
    [[nodiscard]] virtual int remove(const std::string& path) = 0;
    // The folder's names are on the disk.
    [[nodiscard]] virtual int sync_folder(const std::string& path) = 0;

    // All of the bytes, or the first error; some may have been written then.
    [[nodiscard]] int write_all(int fd, std::string_view bytes);
};

}  // namespace dynaplan::port
