#include "wire/journal_reader.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

#include "wire/journal_bytes.hpp"
#include "wire/journal_fpm.hpp"

namespace dynaplan::wire {

struct JournalReader::Record {
    JournalRecordKind kind{};
    std::size_t offset = 0;
    std::string_view body;
};

namespace {

constexpr std::size_t magic_and_format = journal_magic.size() + 2;
// The core orders what happens by time; the lines of the step protocol cannot even write such a one.
constexpr const char* time_is_none = " has a time that is not finite";
constexpr std::size_t record_frame_min = 2 + 4 + 1 + 1;  // sync, crc32, kind, the shortest length

enum class Frame : std::uint8_t { valid, cut, damaged };

struct Framed {
    Frame frame = Frame::damaged;
    std::uint8_t kind = 0;
    std::size_t size = 0;  // of the whole record; 0 while unknown
    std::string_view body;
};

// What stands at the front of `bytes`. Nothing is believed before the checksum is right. With `crc_budget`,
// the checksum of a record longer than that is not computed: the frame then answers damaged.
Framed frame_at(std::string_view bytes, std::size_t crc_budget) {
    Framed f;
    for (std::size_t i = 0; i < journal_sync.size() && i < bytes.size(); ++i) {
        if (static_cast<unsigned char>(bytes[i]) != journal_sync[i]) return f;
    }
    f.frame = Frame::cut;
    if (bytes.size() < record_frame_min) return f;
    ByteCursor in{bytes.substr(2)};
    const auto crc = in.fixed<std::uint32_t>();
    f.kind = in.u8();
    const std::uint64_t length = in.varint();
    if (!in.ok() || length > in.left()) return f;
    f.body = in.take(length);
    f.size = bytes.size() - in.left();
    f.frame =
        f.size <= crc_budget && crc == crc32_of(bytes.substr(6, f.size - 6)) ? Frame::valid : Frame::damaged;
    return f;
}

std::string_view name_of(JournalRecordKind kind) {
    switch (kind) {
        case JournalRecordKind::checkpoint: return "checkpoint";
        case JournalRecordKind::engine: return "engine";
        case JournalRecordKind::fpm: return "fpm";
        case JournalRecordKind::event: return "event";
        case JournalRecordKind::effect: return "effect";
        case JournalRecordKind::note: return "note";
    }
    return "?";
}

tl::unexpected<Error> failure_at(std::size_t offset, std::string_view what) {
    std::string message = "journal offset ";
    message += std::to_string(offset);
    message += ": ";
    message += what;
    return failure(std::move(message));
}

}  // namespace

bool looks_like_journal(std::string_view bytes) {
    return bytes.starts_with(std::string_view{journal_magic.data(), journal_magic.size()});
}

Result<JournalReader> JournalReader::open(std::string_view segment) {
    if (segment.empty()) return failure("the journal segment is empty");
    const std::string_view magic{journal_magic.data(), journal_magic.size()};
    if (!segment.starts_with(magic)) {
        if (magic.starts_with(segment)) return failure_at(segment.size(), "the header is cut off");
        return failure_at(0, "not a journal segment");
    }
    ByteCursor in{segment.substr(magic.size())};
    const auto format = in.fixed<std::uint16_t>();
    if (in.ok() && format != journal_format) {
        return failure_at(magic.size(), "format version " + std::to_string(format) +
                                            " is not known here, only version " +
                                            std::to_string(journal_format));
    }
    const auto crc = in.fixed<std::uint32_t>();
    const auto length = in.fixed<std::uint32_t>();
    ByteCursor body{in.take(length)};
    if (!in.ok()) return failure_at(segment.size(), "the header is cut off");
    if (crc != crc32_of(segment.substr(magic_and_format + 4, 4 + std::size_t{length}))) {
        return failure_at(magic_and_format, "the header's checksum is wrong");
    }

    JournalReader reader{segment};
    reader.header_.segment = body.fixed<std::uint64_t>();
    reader.header_.started_unix_ms = static_cast<std::int64_t>(body.fixed<std::uint64_t>());
    reader.header_.program_version = body.take(body.varint());
    reader.header_.config_json = body.rest();
    if (!body.ok()) return failure_at(magic_and_format, "the header is too short for what it should hold");
    reader.position_ = segment.size() - in.left();
    return reader;
}

Result<bool> JournalReader::read_engine(std::string_view body, std::size_t offset) {
    ByteCursor in{body};
    const std::uint64_t index = in.varint();
    const std::uint8_t role = in.u8();
    const std::int64_t dp_rank = unzigzag(in.varint());
    if (!in.ok() || role > 1) return failure_at(offset, "the engine record is malformed");
    if (index != engines_.size()) {
        return failure_at(offset, "engine " + std::to_string(index) + " is named where engine " +
                                      std::to_string(engines_.size()) + " is due");
    }
    engines_.push_back({static_cast<Role>(role), {std::string{in.rest()}, dp_rank}});
    return false;
}

Result<bool> JournalReader::read_fpm(std::string_view body, std::size_t offset, Event& out) {
    auto* fpm = std::get_if<FpmArrived>(&out.body);
    if (fpm == nullptr) fpm = &out.body.emplace<FpmArrived>();
    ByteCursor in{body};
    out.at = at_seconds(in.f64());
    const std::uint64_t index = in.varint();
    unpack_fpm(in, fpm->fpm);
    if (!in.ok() || in.left() != 0) return failure_at(offset, "the fpm record is malformed");
    if (index >= engines_.size()) {
        return failure_at(offset, "engine " + std::to_string(index) + " has not been named in this segment");
    }
    if (!std::isfinite(seconds_of(out.at)))
        return failure_at(offset, std::string{"the fpm record"} + time_is_none);
    const Engine& engine = engines_[static_cast<std::size_t>(index)];
    fpm->role = engine.role;
    fpm->fpm.worker_id.assign(engine.key.worker_id);
    fpm->fpm.dp_rank = engine.key.dp_rank;
    return true;
}

// True when the record is one for the caller.
Result<bool> JournalReader::read(const Record& record, Event& out, JournalItem& item) {
    ByteCursor in{record.body};
    switch (record.kind) {
        case JournalRecordKind::engine: return read_engine(record.body, record.offset);
        case JournalRecordKind::fpm:
            item.kind = JournalItemKind::event;
            return read_fpm(record.body, record.offset, out);
        case JournalRecordKind::event: {
            item.kind = JournalItemKind::event;
            const auto line = lines_.parse(record.body, out);
            if (!line) return failure_at(record.offset, "event: " + line.error().message);
            if (line->fpm_refused) return failure_at(record.offset, "event: an FPM that is not admitted");
            return true;
        }
        case JournalRecordKind::effect:
            item.kind = JournalItemKind::effect;
            item.text = record.body;
            return true;
        case JournalRecordKind::checkpoint:
            item.kind = JournalItemKind::checkpoint;
            item.at = at_seconds(in.f64());
            item.planner_state = in.take(in.varint());
            item.coordinator_state = in.rest();
            break;
        case JournalRecordKind::note:
            item.kind = JournalItemKind::note;
            item.at = at_seconds(in.f64());
            item.note = static_cast<JournalNote>(in.u8());
            item.count = in.varint();
            item.text = in.rest();
            break;
        default:
            return failure_at(
                record.offset,
                "record kind " + std::to_string(static_cast<unsigned>(record.kind)) + " is not known here");
    }
    const std::string the_record = "the " + std::string{name_of(record.kind)} + " record";
    if (!in.ok()) return failure_at(record.offset, the_record + " is malformed");
    if (!std::isfinite(seconds_of(item.at))) return failure_at(record.offset, the_record + time_is_none);
    return true;
}

// Torn or damaged in the middle? That depends on whether anything valid follows.
Result<JournalItem> JournalReader::bad_record() const {
    const Frame first = frame_at(segment_.substr(position_), segment_.size()).frame;
    const std::string_view what =
        first == Frame::cut ? "the record is cut off" : "the record's checksum is wrong";
    // Bytes may be crafted so that every place looks like a long record. Real rubbish costs far less than
    // this.
    std::size_t budget = 4 * (segment_.size() - position_) + (std::size_t{1} << 20);
    const char sync = static_cast<char>(journal_sync[0]);
    for (std::size_t i = position_ + 1; i < segment_.size(); ++i) {
        const void* found = std::memchr(segment_.data() + i, sync, segment_.size() - i);
        if (found == nullptr) break;
        i = static_cast<std::size_t>(static_cast<const char*>(found) - segment_.data());
        const Framed next = frame_at(segment_.substr(i), budget);
        if (next.frame == Frame::valid) {
            return failure_at(position_, std::string{what} + ", but valid records follow at offset " +
                                             std::to_string(i) + ": the segment is damaged");
        }
        if (next.size > budget) {
            return failure_at(position_,
                              std::string{what} + ", and what follows is too damaged to be searched");
        }
        budget -= next.size;
    }
    JournalItem item;
    item.kind = JournalItemKind::torn_tail;
    item.offset = position_;
    item.text = what;
    return item;
}

Result<JournalItem> JournalReader::next(Event& out) {
    while (position_ != segment_.size()) {
        const Framed framed = frame_at(segment_.substr(position_), segment_.size());
        if (framed.frame != Frame::valid) return bad_record();
        JournalItem item;
        item.offset = position_;
        const Record record{static_cast<JournalRecordKind>(framed.kind), position_, framed.body};
        const auto is_item = read(record, out, item);
        if (!is_item) return tl::unexpected{is_item.error()};
        position_ += framed.size;
        if (*is_item) return item;
    }
    JournalItem end;
    end.kind = JournalItemKind::end;
    end.offset = position_;
    return end;
}

}  // namespace dynaplan::wire
