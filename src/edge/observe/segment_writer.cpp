#include "observe/segment_writer.hpp"

#include <cerrno>
#include <utility>

#include "core/assert.hpp"
#include "port/posix_disk.hpp"

namespace dynaplan::observe {

std::string text_of(const DiskTrouble& trouble) {
    std::string_view what;
    switch (trouble.what) {
        case DiskTrouble::What::none: return {};
        case DiskTrouble::What::create: what = "a new segment"; break;
        case DiskTrouble::What::write: what = "write"; break;
        case DiskTrouble::What::sync: what = "sync"; break;
        case DiskTrouble::What::remove: what = "delete the oldest segment"; break;
    }
    return std::string{what} + ": " + port::reason_of(trouble.error);
}

SegmentWriter::SegmentWriter(std::shared_ptr<port::Disk> disk, std::string folder, std::uint64_t kept_bytes,
                             std::vector<SegmentFile> existing)
    : disk_{std::move(disk)}, folder_{std::move(folder)}, kept_bytes_{kept_bytes} {
    for (SegmentFile& segment : existing) {
        closed_bytes_ += segment.size;
        closed_.push_back(std::move(segment));
    }
}

bool SegmentWriter::failed(DiskTrouble::What what, int error) {
    trouble_ = {what, error};
    return false;
}

bool SegmentWriter::begin(std::uint64_t number, std::string head) {
    DYNAPLAN_ASSERT(unsynced_.empty() && !beginning_);
    beginning_ = Beginning{number, std::move(head)};
    return try_begin();
}

// The segment gets its name once its head is on the disk, so that every file with such a name can be read.
bool SegmentWriter::try_begin() {
    const std::string unfinished = folder_ + "/" + unfinished_name(beginning_->number);
    const std::string path = folder_ + "/" + segment_name(beginning_->number);
    port::FileDescriptor file;
    int error = disk_->create(unfinished, file);
    if (error == 0) error = disk_->write_all(file.get(), beginning_->head);
    if (error == 0) error = disk_->sync(file.get());
    if (error == 0) error = disk_->rename(unfinished, path);
    if (error != 0) {
        // What is left is overwritten by the next attempt, so it does not matter whether this succeeds.
        if (file.is_open()) static_cast<void>(disk_->remove(unfinished));
        return failed(DiskTrouble::What::create, error);
    }
    if (const int synced = disk_->sync_folder(folder_)) return failed(DiskTrouble::What::create, synced);
    if (file_.is_open()) {
        closed_bytes_ += current_.size;
        closed_.push_back(std::move(current_));
    }
    file_ = std::move(file);
    current_ = {beginning_->number, beginning_->head.size(), path};
    beginning_.reset();
    trouble_ = {};
    delete_oldest();
    return true;
}

bool SegmentWriter::append(std::string_view bytes) {
    unsynced_ += bytes;
    if (const int error = disk_->write_all(file_.get(), bytes))
        return failed(DiskTrouble::What::write, error);
    return true;
}

bool SegmentWriter::sync() {
    if (unsynced_.empty()) return true;
    if (const int error = disk_->sync(file_.get())) return failed(DiskTrouble::What::sync, error);
    current_.size += unsynced_.size();
    unsynced_.clear();
    trouble_ = {};
    delete_oldest();
    return true;
}

bool SegmentWriter::retry() {
    if (beginning_) return try_begin();
    if (const int error = disk_->truncate(file_.get(), current_.size))
        return failed(DiskTrouble::What::write, error);
    if (const int error = disk_->write_all(file_.get(), unsynced_))
        return failed(DiskTrouble::What::write, error);
    return sync();
}

void SegmentWriter::delete_oldest() {
    while (!closed_.empty() && closed_bytes_ + current_.size > kept_bytes_) {
        const SegmentFile& oldest = closed_.front();
        const int error = disk_->remove(oldest.path);
        if (error != 0 && error != ENOENT) {
            trouble_ = {DiskTrouble::What::remove, error};
            return;
        }
        closed_bytes_ -= oldest.size;
        closed_.pop_front();
    }
}

}  // namespace dynaplan::observe
