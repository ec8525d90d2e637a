#include "observe/newest_checkpoint.hpp"

#include <string_view>
#include <utility>

#include "observe/segment_names.hpp"
#include "port/posix_disk.hpp"
#include "wire/journal_reader.hpp"

namespace dynaplan::observe {

namespace {

// The checkpoint stands in front; a segment is read whole only where it is not found there.
constexpr std::uint64_t first_piece = std::uint64_t{4} << 20U;
constexpr std::uint64_t piece_growth = 8;
constexpr std::uint64_t segment_bytes_max = std::uint64_t{8} << 30U;  // as `dynaplan replay` takes at most

Result<KeptCheckpoint> checkpoint_in(std::string_view bytes) {
    auto reader = wire::JournalReader::open(bytes);
    if (!reader) return tl::unexpected{reader.error()};
    Event event;
    for (;;) {
        const auto item = reader->next(event);
        if (!item) return tl::unexpected{item.error()};
        switch (item->kind) {
            case wire::JournalItemKind::checkpoint: {
                const wire::JournalHeader& h = reader->header();
                return KeptCheckpoint{{},
                                      h.segment,
                                      h.started_unix_ms,
                                      h.program_version,
                                      h.config_json,
                                      item->at,
                                      std::string{item->planner_state},
                                      std::string{item->coordinator_state}};
            }
            case wire::JournalItemKind::note: break;
            case wire::JournalItemKind::torn_tail:
                return failure("torn at offset " + std::to_string(item->offset) + ", before its checkpoint");
            default: return failure("does not begin with a checkpoint");
        }
    }
}

Result<KeptCheckpoint> checkpoint_of(const std::string& path) {
    std::string bytes;
    for (std::uint64_t limit = first_piece;; limit *= piece_growth) {
        if (const int error = port::read_file(path, limit, bytes)) return failure(port::reason_of(error));
        auto found = checkpoint_in(bytes);
        if (found || bytes.size() < limit || limit >= segment_bytes_max) return found;
    }
}

}  // namespace

Result<NewestCheckpoint> newest_checkpoint(const std::string& folder) {
    auto content = list_segments(folder);
    if (!content) return tl::unexpected{content.error()};
    NewestCheckpoint newest;
    auto& segments = content->segments;
    for (auto segment = segments.rbegin(); segment != segments.rend() && !newest.found; ++segment) {
        auto found = checkpoint_of(segment->path);
        if (found) {
            newest.found = std::move(*found);
            newest.found->path = segment->path;
        } else {
            newest.remarks.push_back(segment->path + ": " + found.error().message);
        }
    }
    return newest;
}

}  // namespace dynaplan::observe
