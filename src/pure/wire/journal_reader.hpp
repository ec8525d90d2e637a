// Reads one journal segment (wire/journal.hpp) from memory, record by record and without copying: texts and
// states are views of the given bytes.
//
// Damage. A segment that ends inside a record, or whose last bytes are not a valid record while nothing valid
// follows them, has a torn tail: the program was killed or the disk was full. That is reported as an item and
// ends the reading. A bad record with a valid one after it is damage in the middle: an Error that names the
// offset. Lengths are checked against the rest of the segment before anything is done with them, so no claim
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/engine.hpp"
#include "core/event.hpp"
#include "core/result.hpp"
#include "core/role.hpp"
#include "wire/journal.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::wire {

enum class JournalItemKind : std::uint8_t {
    event,       // the Event was filled
    effect,      // `text`: the JSON line
    checkpoint,  // `planner_state`, `coordinator_state`
    note,        // `note`, `count`, `text`
    torn_tail,   // the segment ends, `offset` is where the torn record begins, `text` says how it is torn
    end,         // the segment ends cleanly
};

struct JournalItem {
    JournalItemKind kind{};
    std::size_t offset = 0;  // of the record, from the segment's first byte
    TimePoint at{};          // of checkpoint and note; an event has its own, an effect's is in its text
    JournalNote note{};
    std::uint64_t count = 0;
    std::string_view text;
    std::string_view planner_state;
    std::string_view coordinator_state;
};

class JournalReader {
public:
    // Reads the header. `segment` must outlive the reader and the views that it gives. Fails with one line
    // that names the offset: empty, no journal, an unknown format version, a header cut or damaged.
    [[nodiscard]] static Result<JournalReader> open(std::string_view segment);

    [[nodiscard]] const JournalHeader& header() const { return header_; }

    // The next item. An event is written into `out`, which is reused: an FPM that follows an FPM allocates
    // nothing once `out` has room for its worker_id. After the end, a torn tail or an error the same is
    // answered again.
    [[nodiscard]] Result<JournalItem> next(Event& out);

    // Bytes of the segment read so far, for progress.
    [[nodiscard]] std::size_t offset() const { return position_; }

private:
    struct Engine {
        Role role{};
        EngineKey key;
    };
    struct Record;

    explicit JournalReader(std::string_view segment) : segment_{segment} {}
    Result<bool> read(const Record&, Event& out, JournalItem& item);
    Result<bool> read_engine(std::string_view body, std::size_t offset);
    Result<bool> read_fpm(std::string_view body, std::size_t offset, Event& out);
    [[nodiscard]] Result<JournalItem> bad_record() const;

    std::string_view segment_;
    std::size_t position_ = 0;
    JournalHeader header_;
    std::vector<Engine> engines_;  // by index, as the segment names them
    StepLineParser lines_;
};

}  // namespace dynaplan::wire
