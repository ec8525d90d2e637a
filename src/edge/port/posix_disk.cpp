#include "port/posix_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dynaplan::port {

namespace {

// Others may read what the planner decided; only its own user writes.
constexpr mode_t file_mode = 0644;
constexpr std::size_t read_piece = 1U << 20U;

int open_for(const std::string& path, int flags, FileDescriptor& out) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, file_mode);
    if (fd < 0) return errno;
    out = FileDescriptor{fd};
    return 0;
}

int answer_of(int result) { return result == 0 ? 0 : errno; }

}  // namespace

void FileDescriptor::close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
}

int Disk::write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        std::size_t written = 0;
        if (const int error = write(fd, bytes, written)) return error;
        bytes.remove_prefix(written);
    }
    return 0;
}

int PosixDisk::create(const std::string& path, FileDescriptor& out) {
    return open_for(path, O_WRONLY | O_APPEND | O_CREAT | O_TRUNC, out);
}

int PosixDisk::open(const std::string& path, FileDescriptor& out) {
    return open_for(path, O_WRONLY | O_APPEND, out);
}

int PosixDisk::write(int fd, std::string_view bytes, std::size_t& written) {
    ssize_t n = -1;
    do {
        n = ::write(fd, bytes.data(), bytes.size());
    } while (n < 0 && errno == EINTR);
    if (n < 0) return errno;
    if (n == 0) return ENOSPC;  // never seen of a regular file; better than asking for ever
    written = static_cast<std::size_t>(n);
    return 0;
}

int PosixDisk::sync(int fd) { return answer_of(::fdatasync(fd)); }

int PosixDisk::truncate(int fd, std::uint64_t size) {
    return answer_of(::ftruncate(fd, static_cast<off_t>(size)));
}

int PosixDisk::rename(const std::string& from, const std::string& to) {
    return answer_of(std::rename(from.c_str(), to.c_str()));
}

int PosixDisk::remove(const std::string& path) { return answer_of(::unlink(path.c_str())); }

int PosixDisk::sync_folder(const std::string& path) {
    FileDescriptor folder;
    if (const int error = open_for(path, O_RDONLY | O_DIRECTORY, folder)) return error;
    return answer_of(::fsync(folder.get()));
}

std::shared_ptr<Disk> posix_disk() { return std::make_shared<PosixDisk>(); }

int read_file(const std::string& path, std::uint64_t limit, std::string& out) {
    out.clear();
    FileDescriptor file;
    if (const int error = open_for(path, O_RDONLY, file)) return error;
    struct stat status {};
    if (::fstat(file.get(), &status) == 0 && status.st_size > 0)
        out.reserve(static_cast<std::size_t>(std::min(limit, static_cast<std::uint64_t>(status.st_size))));
    while (out.size() < limit) {
        const std::size_t before = out.size();
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(read_piece, limit - before));
        out.resize(before + piece);
        ssize_t n = -1;
        do {
            n = ::read(file.get(), out.data() + before, piece);
        } while (n < 0 && errno == EINTR);
        const int error = n < 0 ? errno : 0;
        out.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
        if (error != 0) return error;
        if (n == 0) break;
    }
    return 0;
}

int make_folder(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::create_directories(path, error) && !error &&
        !std::filesystem::is_directory(path, error)) {
        return error ? error.value() : ENOTDIR;
    }
    return error.value();
}

std::string reason_of(int error) { return std::generic_category().message(error); }

}  // namespace dynaplan::port
