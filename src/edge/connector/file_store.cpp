#include "connector/file_store.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/stat.h>

#include "connector/decisions_file.hpp"
#include "port/posix_disk.hpp"

namespace dynaplan::connector {

namespace {

// A file of this size was not written by us: it is rewritten long before.
constexpr std::uint64_t file_bytes_max = std::uint64_t{1} << 30U;

port::CommitAnswer answer(port::CommitResult result) { return {result, 0, std::nullopt}; }

}  // namespace

FileStore::FileStore(FileStoreOptions options)
    : options_{std::move(options)}, path_{options_.folder + "/decisions"} {
    if (!options_.disk) options_.disk = port::posix_disk();
}

// Always false, so that a caller can return it.
bool FileStore::fail(const std::string& path, int error) {
    trouble_ = path + ": " + port::reason_of(error);
    return false;
}

Result<FileStore::LockAnswer> FileStore::try_lock() {
    if (held()) return LockAnswer{true, {}};
    if (const int error = port::make_folder(options_.folder)) {
        fail(options_.folder, error);
        return failure(trouble_);
    }
    const auto lock = lock_.try_lock(options_.folder);
    if (!lock) {
        trouble_ = lock.error().message;
        return tl::unexpected{lock.error()};
    }
    if (!lock->held) {
        return LockAnswer{
            false, lock->holder ? "held by pid " + std::to_string(*lock->holder) : "held by another process"};
    }
    if (!open_file()) {
        release();
        return failure(trouble_);
    }
    return LockAnswer{true, {}};
}

void FileStore::release() {
    file_.close();
    lock_.release();
}

bool FileStore::check() {
    if (!held()) return false;
    const bool in_trouble = !trouble_.empty();
    return settle() && (!in_trouble || rewrite());
}

// Reads the file, or makes one.
bool FileStore::open_file() {
    state_ = port::StoredState{};
    tail_doubtful_ = false;
    folder_doubtful_ = false;
    std::string bytes;
    const int error = port::read_file(path_, file_bytes_max, bytes);
    if (error == ENOENT) return rewrite();
    if (error != 0) return fail(path_, error);
    if (bytes.size() >= file_bytes_max) return fail(path_, EFBIG);
    auto read = read_decisions(bytes);
    if (!read) {
        trouble_ = path_ + ": " + read.error().message;
        return false;
    }
    if (const int opened = options_.disk->open(path_, file_)) return fail(path_, opened);
    state_ = std::move(read->state);
    sound_size_ = read->sound_size;
    rewrite_at_ = std::max(options_.rewrite_above, sound_size_);
    // The process before may have been killed between writing a line and having it on the disk.
    if (const int synced = options_.disk->sync(file_.get())) return fail(path_, synced);
    folder_doubtful_ = true;
    if (!read->torn.empty()) {
        tail_doubtful_ = true;
        remarks_.push_back(path_ + ": cut off a torn tail at offset " + std::to_string(sound_size_) + ", " +
                           read->torn);
    }
    return settle();
}

bool FileStore::vanished() const {
    struct stat status {};
    return !file_.is_open() || ::fstat(file_.get(), &status) != 0 || status.st_nlink == 0;
}

// Cuts off what stands behind the last sound line, durably.
bool FileStore::take_back() {
    tail_doubtful_ = true;
    if (const int error = options_.disk->truncate(file_.get(), sound_size_)) return fail(path_, error);
    if (const int error = options_.disk->sync(file_.get())) return fail(path_, error);
    tail_doubtful_ = false;
    return true;
}

// Makes the file what memory says it is; true when it is.
bool FileStore::settle() {
    trouble_.clear();
    if (!lock_.intact(options_.folder)) {
        release();
        trouble_ = options_.folder + "/lock: was deleted or replaced, the lock is lost";
        return false;
    }
    if (vanished() && !rewrite()) return false;  // someone deleted it: the state is still here
    if (tail_doubtful_ && !take_back()) return false;
    if (folder_doubtful_) {
        if (const int error = options_.disk->sync_folder(options_.folder))
            return fail(options_.folder, error);
        folder_doubtful_ = false;
    }
    return true;
}

// A new file that holds the state alone takes the old one's place. False, and the old one goes on, where that
// fails.
bool FileStore::rewrite() {
    const std::string fresh_path = path_ + ".new";
    std::string bytes{decisions_header};
    append_state_line(bytes, state_);
    port::FileDescriptor fresh;
    port::Disk& disk = *options_.disk;
    int error = disk.create(fresh_path, fresh);
    if (error == 0) error = disk.write_all(fresh.get(), bytes);
    if (error == 0) error = disk.sync(fresh.get());
    if (error == 0) error = disk.rename(fresh_path, path_);
    if (error != 0) {
        // What is left is cut off by the next attempt, so it does not matter whether this succeeds.
        if (fresh.is_open()) static_cast<void>(disk.remove(fresh_path));
        return fail(fresh_path, error);
    }
    file_ = std::move(fresh);
    sound_size_ = bytes.size();
    rewrite_at_ = std::max<std::uint64_t>(options_.rewrite_above, 2 * sound_size_);
    tail_doubtful_ = false;
    folder_doubtful_ = true;
    if (const int synced = disk.sync_folder(options_.folder)) return fail(options_.folder, synced);
    folder_doubtful_ = false;
    return true;
}

std::optional<port::ReadAnswer> FileStore::read() {
    if (held()) {
        if (!settle()) return port::ReadAnswer{};
        return port::ReadAnswer{state_};
    }
    trouble_.clear();
    std::string bytes;
    const int error = port::read_file(path_, file_bytes_max, bytes);
    if (error == ENOENT) return port::ReadAnswer{port::StoredState{}};
    if (error != 0) {
        fail(path_, error);
        return port::ReadAnswer{};
    }
    auto file = read_decisions(bytes);
    if (!file) {
        trouble_ = path_ + ": " + file.error().message;
        return port::ReadAnswer{};
    }
    return port::ReadAnswer{std::move(file->state)};
}

std::optional<port::CommitAnswer> FileStore::commit(const port::Transaction& t) {
    using port::CommitResult;
    if (!held()) {
        trouble_ = options_.folder + ": the lock is not held";
        return answer(CommitResult::failed);
    }
    if (!settle()) return answer(CommitResult::failed);
    port::StoredState next = state_;
    if (!port::apply(t, next)) return port::CommitAnswer{CommitResult::conflict, 0, state_};

    std::string line;
    append_transaction_line(line, t);
    port::Disk& disk = *options_.disk;
    if (const int error = disk.write_all(file_.get(), line)) {
        take_back();  // no whole line is there, whether that succeeds or not
        fail(path_, error);
        return answer(CommitResult::failed);
    }
    if (const int error = disk.sync(file_.get())) {
        const bool gone = take_back();
        fail(path_, error);
        return answer(gone ? CommitResult::failed : CommitResult::unknown);
    }
    sound_size_ += line.size();
    state_ = std::move(next);
    // The commit is stored whatever becomes of this; after a failure it is tried again as much later.
    if (sound_size_ > rewrite_at_ && !rewrite()) rewrite_at_ = sound_size_ + options_.rewrite_above;
    return port::CommitAnswer{CommitResult::ok, state_.revision, std::nullopt};
}

std::vector<std::string> FileStore::take_remarks() { return std::exchange(remarks_, {}); }

}  // namespace dynaplan::connector
