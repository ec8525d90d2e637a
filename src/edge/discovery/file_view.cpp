#include "discovery/file_view.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <optional>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "port/disk.hpp"
#include "port/posix_disk.hpp"

namespace dynaplan::discovery {

namespace {

std::int64_t nanoseconds_of(const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

bool is_folder(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

// An open folder.
struct FileView::Folder {
    explicit Folder(std::string where) : path{std::move(where)}, stream{::opendir(path.c_str())} {}
    ~Folder() {
        if (stream != nullptr) ::closedir(stream);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] int descriptor() const { return ::dirfd(stream); }

    std::string path;
    DIR* stream;
};

std::string FileView::folder_of(wire::Bucket bucket) const {
    return root_ + '/' + std::string{to_string(bucket)};
}

void FileView::written(wire::Bucket bucket, std::string_view file_name) {
    const auto place = std::find(buckets.begin(), buckets.end(), bucket);
    if (place == buckets.end()) return;
    auto& names = written_[static_cast<std::size_t>(place - buckets.begin())];
    if (names.size() >= files_most) {
        all_written_ = true;
    } else {
        names.emplace(file_name);
    }
}

Result<void> FileView::scan(Steady now, Wall wall) {
    ++round_;
    Result<void> first;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        auto result = scan_bucket(i, now, wall);
        written_[i].clear();
        if (!result && first) first = std::move(result);
    }
    all_written_ = false;
    scanned_at_ = now;
    return first;
}

Result<void> FileView::scan_bucket(std::size_t bucket, Steady now, Wall wall) {
    const Folder folder{folder_of(buckets[bucket])};
    Result<void> first;
    if (folder.stream == nullptr) {
        const int error = errno;
        if (error != ENOENT) return failure(folder.path + ": " + port::reason_of(error));
        if (!is_folder(root_)) {
            return failure(root_ + ": no such folder; is DYN_FILE_KV the workers' own, and mounted here?");
        }
    } else {
        std::size_t files = 0;
        errno = 0;
        for (const dirent* entry = nullptr; (entry = ::readdir(folder.stream)) != nullptr; errno = 0) {
            if (!wire::key_of_file_name(entry->d_name)) continue;
            if (++files > files_most) {
                return failure(folder.path + ": more than " + std::to_string(files_most) +
                               " files; remove those that nobody owns");
            }
            auto result = visit(bucket, folder, entry->d_name, now, wall);
            if (!result && first) first = std::move(result);
        }
        if (errno != 0) return failure(folder.path + ": " + port::reason_of(errno));
    }
    Entries& entries = entries_[bucket];
    for (auto place = entries.begin(); place != entries.end();) {
        Entry& entry = place->second;
        const bool there = entry.round == round_;
        if (entry.alive && (!there || entry.alive_until < now)) {
            entry.alive = false;
            roster_.remove(entry.key);
        }
        place = there ? std::next(place) : entries.erase(place);
    }
    return first;
}

Result<void> FileView::visit(std::size_t bucket, const Folder& folder, const std::string& name, Steady now,
                             Wall wall) {
    struct stat found {};
    if (::fstatat(folder.descriptor(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return {};  // deleted while we looked
        return failure(folder.path + '/' + name + ": " + port::reason_of(errno));
    }
    if (!S_ISREG(found.st_mode)) return {};
    const std::int64_t touched_ns = nanoseconds_of(found.st_mtim);
    const auto age = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds{wall.time_since_epoch()} -
                                                               std::chrono::nanoseconds{touched_ns});
    const auto [place, fresh] = entries_[bucket].try_emplace(name);
    Entry& entry = place->second;
    entry.round = round_;
    if (fresh) {
        entry.key = std::string{to_string(buckets[bucket])} + '/' + wire::key_of_file_name(name).value_or("");
        entry.alive_until = now + time_to_live_ - std::min(age, std::chrono::nanoseconds{time_to_live_} * 2);
    } else if (touched_ns != entry.touched_ns) {
        // It moved since the last scan, so it is no older than that, whatever the clocks say.
        entry.alive_until = now + time_to_live_ - std::min(age, std::chrono::nanoseconds{now - scanned_at_});
    }
    const bool touched = touched_ns != entry.touched_ns;
    entry.touched_ns = touched_ns;
    if (entry.alive_until < now) return {};
    const bool replaced =
        found.st_ino != entry.inode || static_cast<std::uint64_t>(found.st_size) != entry.size;
    const bool written = replaced || all_written_ || written_[bucket].contains(name) ||
                         (touched && now - entry.read_at >= reread_after);
    if (entry.alive && !written) return {};
    entry.inode = found.st_ino;
    entry.size = static_cast<std::uint64_t>(found.st_size);
    return read(folder, name, entry, now);
}

Result<void> FileView::read(const Folder& folder, const std::string& name, Entry& entry, Steady now) {
    // One byte more than a record may have shows that there are more.
    std::string content;
    const int error = port::read_file(folder.path + '/' + name, Roster::value_bytes_most + 1, content);
    if (error == ENOENT) return {};
    if (error != 0) {
        entry.inode = 0;  // so that it is read again
        return failure(folder.path + '/' + name + ": " + port::reason_of(error));
    }
    entry.read_at = now;
    const std::uint64_t hash = std::hash<std::string_view>{}(content);
    if (entry.alive && hash == entry.hash) return {};
    entry.hash = hash;
    entry.alive = true;
    roster_.put(entry.key, content);
    return {};
}

}  // namespace dynaplan::discovery
