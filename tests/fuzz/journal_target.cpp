#include <charconv>
#include <cmath>
#include <cstring>

#include "fuzz/one_line.hpp"
#include "fuzz/targets.hpp"
#include "wire/journal_bytes.hpp"
#include "wire/journal_reader.hpp"
#include "wire/journal_writer.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

bool inside(std::string_view part, std::string_view whole) {
    return part.empty() ||
           (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

// "" or what is wrong with an error about `size` bytes.
std::string error_problem(const std::string& message, std::size_t size) {
    if (std::string problem = one_line_problem(message); !problem.empty()) return problem;
    constexpr std::string_view place = "journal offset ";
    if (!message.starts_with(place)) return size == 0 ? "" : "an error without its offset: " + message;
    std::size_t offset = 0;
    std::from_chars(message.data() + place.size(), message.data() + message.size(), offset);
    return offset <= size ? "" : "an error beyond the end: " + message;
}

// Everything that was read, as text without offsets and as the bytes that a writer makes of it.
struct Told {
    std::string story;
    std::string written;
    std::string problem;
    bool whole = false;  // the segment ended cleanly
};

void tell(const JournalItem& item, const Event& event, Told& told, JournalWriter& writer) {
    std::string& story = told.story;
    story += std::to_string(static_cast<int>(item.kind)) + ' ';
    switch (item.kind) {
        case JournalItemKind::event:
            if (!std::isfinite(seconds_of(event.at))) told.problem = "an event at a time that is none";
            append_event_json(story, event);
            writer.append_event(told.written, event);
            break;
        case JournalItemKind::effect: {
            story += item.text;
            // The writer takes an Effect; its bytes are those of any record of this kind.
            std::string body;
            put_fixed(body, static_cast<std::uint8_t>(JournalRecordKind::effect));
            put_varint(body, item.text.size());
            body += item.text;
            told.written.append("\xd7\x4a");
            put_fixed(told.written, crc32_of(body));
            told.written += body;
            break;
        }
        case JournalItemKind::checkpoint:
            if (!std::isfinite(seconds_of(item.at))) told.problem = "a checkpoint at a time that is none";
            put_f64(story, seconds_of(item.at));
            story.append(item.planner_state).append("|").append(item.coordinator_state);
            writer.append_checkpoint(told.written, item.at, item.planner_state, item.coordinator_state);
            break;
        case JournalItemKind::note:
            if (!std::isfinite(seconds_of(item.at))) told.problem = "a note at a time that is none";
            put_f64(story, seconds_of(item.at));
            story += std::to_string(static_cast<int>(item.note)) + ' ' + std::to_string(item.count);
            story.append(" ").append(item.text);
            writer.append_note(told.written, item.at, item.note, item.count, item.text);
            break;
        case JournalItemKind::torn_tail: story += item.text; break;
        case JournalItemKind::end: told.whole = true; break;
    }
    story += '\n';
}

Told told_of(std::string_view bytes, bool fresh_events) {
    Told told;
    auto reader = JournalReader::open(bytes);
    if (!reader) {
        told.story = reader.error().message;
        told.problem = error_problem(told.story, bytes.size());
        return told;
    }
    const JournalHeader& header = reader->header();
    told.story = std::to_string(header.segment) + ' ' + std::to_string(header.started_unix_ms) + ' ' +
                 header.program_version + '|' + header.config_json + '\n';
    JournalWriter writer;
    writer.append_header(told.written, header);
    Event event;
    for (std::size_t offset = 0; told.problem.empty();) {
        if (fresh_events) event = Event{};
        const auto item = reader->next(event);
        if (!item) {
            told.story += item.error().message;
            told.problem = error_problem(item.error().message, bytes.size());
            const auto again = reader->next(event);
            if (again || again.error().message != item.error().message)
                told.problem = "after an error something else is answered";
            break;
        }
        if (item->offset < offset || item->offset > bytes.size() || reader->offset() > bytes.size())
            told.problem = "an offset that goes back, or beyond the end";
        offset = item->offset;
        if (!inside(item->text, bytes) && item->kind != JournalItemKind::torn_tail)
            told.problem = "a text that is not a part of the segment";
        if (!inside(item->planner_state, bytes) || !inside(item->coordinator_state, bytes))
            told.problem = "a state that is not a part of the segment";
        tell(*item, event, told, writer);
        if (item->kind != JournalItemKind::end && item->kind != JournalItemKind::torn_tail) continue;
        const auto again = reader->next(event);
        if (!again || again->kind != item->kind || again->offset != item->offset)
            told.problem = "after the end something else is answered";
        break;
    }
    return told;
}

std::string try_segment(std::string_view bytes) {
    const Told told = told_of(bytes, false);
    if (!told.problem.empty()) return told.problem;
    const Told fresh = told_of(bytes, true);
    if (fresh.story != told.story) return "into fresh events:\n" + fresh.story + "\nreused:\n" + told.story;
    if (told.written.empty()) return "";  // not even a header
    const Told again = told_of(told.written, false);
    if (!again.whole) return "what was written is refused:\n" + again.story;
    if (again.written != told.written) return "what was written is written otherwise the second time";
    if (told.whole && again.story != told.story)
        return "what was written:\n" + told.story + "\nreads as:\n" + again.story;
    return "";
}

// The same bytes with every checksum put right, so that a change comes through to what reads the records.
std::string sealed(std::string_view bytes) {
    std::string out{bytes};
    const auto seal = [&out](std::size_t crc_at, std::size_t end) {
        std::string crc;
        put_fixed(crc, crc32_of(std::string_view{out}.substr(crc_at + 4, end - crc_at - 4)));
        out.replace(crc_at, 4, crc);
    };
    constexpr std::size_t header_frame = journal_magic.size() + 2 + 4 + 4;
    if (out.size() < header_frame) return out;
    ByteCursor length{bytes.substr(header_frame - 4)};
    const std::uint64_t body = length.fixed<std::uint32_t>();
    if (body > length.left()) return out;
    std::size_t at = header_frame + static_cast<std::size_t>(body);
    seal(header_frame - 8, at);
    while (at + 8 <= out.size()) {
        ByteCursor in{bytes.substr(at + 7)};
        const std::uint64_t size = in.varint();
        if (!in.ok() || size > in.left()) break;
        static_cast<void>(in.take(size));
        const std::size_t end = out.size() - in.left();
        seal(at + 2, end);
        at = end;
    }
    return out;
}

}  // namespace

std::string try_journal(std::string_view bytes) {
    if (std::string problem = try_segment(bytes); !problem.empty()) return problem;
    const std::string whole = sealed(bytes);
    if (std::string problem = try_segment(whole); !problem.empty()) return "sealed: " + problem;
    return "";
}

}  // namespace dynaplan::fuzz
