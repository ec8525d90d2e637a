#include "connector/folder_lock.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/posix_disk.hpp"

namespace dynaplan::connector {

namespace {

std::string path_in(const std::string& folder) { return folder + "/lock"; }

std::optional<int> process_in(int fd) {
    std::array<char, 16> text{};
    const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
    if (n <= 0) return std::nullopt;
    int pid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + n, pid);
    return error == std::errc{} && pid > 0 ? std::optional{pid} : std::nullopt;
}

// The lock is on the file that bears the name now, not on one that was deleted or replaced meanwhile.
bool bears_name(int fd, const std::string& path) {
    struct stat ours {};
    struct stat named {};
    return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev;
}

// A full disk keeps nobody from holding the lock: others then cannot say who does.
void write_process(int fd) {
    const std::string text = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd, 0) != 0) return;
    [[maybe_unused]] const ssize_t n = ::pwrite(fd, text.data(), text.size(), 0);
}

}  // namespace

Result<FolderLock::Answer> FolderLock::try_lock(const std::string& folder) {
    const std::string path = path_in(folder);
    if (intact(folder)) return Answer{true, std::nullopt};
    file_.close();
    for (;;) {
        port::FileDescriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
        if (!file.is_open()) return failure(path + ": " + port::reason_of(errno));
        if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EINTR) continue;
            if (errno != EWOULDBLOCK) return failure(path + ": " + port::reason_of(errno));
            return Answer{false, process_in(file.get())};
        }
        if (!bears_name(file.get(), path)) continue;
        write_process(file.get());
        file_ = std::move(file);
        return Answer{true, std::nullopt};
    }
}

bool FolderLock::intact(const std::string& folder) const {
    return held() && bears_name(file_.get(), path_in(folder));
}

void FolderLock::release() {
    if (!file_.is_open()) return;
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), 0);
    file_.close();
}

}  // namespace dynaplan::connector
