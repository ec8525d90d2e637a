// The disk's half of the journal: writes the bytes of one segment after the other and deletes the oldest.
//
// Nothing that was appended is lost while the disk is full or failing: what is not yet known to be on the
// disk is kept here, and written again by retry() from the last place that is known. So memory is bounded by
// what is appended between two syncs.
//
// Blocks for as long as the disk does. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "observe/segment_names.hpp"
#include "port/disk.hpp"

namespace dynaplan::observe {

struct DiskTrouble {
    enum class What : std::uint8_t { none, create, write, sync, remove };
    What what = What::none;
    int error = 0;  // an errno
    bool operator==(const DiskTrouble&) const = default;
    explicit operator bool() const { return what != What::none; }
};
// "write: No space left on device"
[[nodiscard]] std::string text_of(const DiskTrouble&);

class SegmentWriter {
public:
    SegmentWriter(std::shared_ptr<port::Disk> disk, std::string folder, std::uint64_t kept_bytes,
                  std::vector<SegmentFile> existing);

    // Each is true when the disk did what was asked. After a false only retry() may be called until it
    // answers true; what was asked has been done then.
    [[nodiscard]] bool begin(std::uint64_t number, std::string head);  // needs everything before to be synced
    [[nodiscard]] bool append(std::string_view bytes);
    [[nodiscard]] bool sync();
    [[nodiscard]] bool retry();

    [[nodiscard]] std::size_t unsynced() const { return unsynced_.size(); }
    // Why the last call failed. With `remove` nothing failed but that an old segment could not be deleted.
    [[nodiscard]] const DiskTrouble& trouble() const { return trouble_; }

private:
    bool failed(DiskTrouble::What what, int error);
    bool try_begin();
    void delete_oldest();

    struct Beginning {
        std::uint64_t number = 0;
        std::string head;
    };

    std::shared_ptr<port::Disk> disk_;
    std::string folder_;
    std::uint64_t kept_bytes_;
    std::deque<SegmentFile> closed_;  // oldest first
    std::uint64_t closed_bytes_ = 0;
    port::FileDescriptor file_;
    SegmentFile current_;                 // its size: what is known to be on the disk
    std::string unsynced_;                // appended after that
    std::optional<Beginning> beginning_;  // a segment that could not be begun yet
    DiskTrouble trouble_;
};

}  // namespace dynaplan::observe
