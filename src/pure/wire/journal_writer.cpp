#include "wire/journal_writer.hpp"

#include <functional>
#include <initializer_list>
#include <variant>

#include "wire/journal_bytes.hpp"
#include "wire/journal_fpm.hpp"
#include "wire/json_effect.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::wire {

namespace {

// Writes the crc32 of everything behind its four bytes at `place`.
void seal(std::string& out, std::size_t place) {
    const std::uint32_t crc = crc32_of(std::string_view{out}.substr(place + 4));
    for (std::size_t i = 0; i < 4; ++i)
        out[place + i] = static_cast<char>(static_cast<unsigned char>(crc >> (8 * i)));
}

void append_record(std::string& out, JournalRecordKind kind, std::initializer_list<std::string_view> body) {
    std::size_t length = 0;
    for (const std::string_view part : body) length += part.size();
    for (const unsigned char c : journal_sync) out += static_cast<char>(c);
    const std::size_t crc_place = out.size();
    put_fixed(out, std::uint32_t{0});
    put_fixed(out, static_cast<std::uint8_t>(kind));
    put_varint(out, length);
    for (const std::string_view part : body) out += part;
    seal(out, crc_place);
}

}  // namespace

std::size_t JournalWriter::EngineHash::operator()(const EngineView& e) const {
    const std::size_t name = std::hash<std::string_view>{}(e.worker_id);
    const auto rest = static_cast<std::size_t>(e.dp_rank) * 2 + static_cast<std::size_t>(e.role);
    return name ^ (rest * 0x9e3779b97f4a7c15ULL);  // 2^64 over the golden ratio spreads small numbers
}

void JournalWriter::append_header(std::string& out, const JournalHeader& header) {
    engines_.clear();
    body_.clear();
    put_fixed(body_, header.segment);
    put_fixed(body_, static_cast<std::uint64_t>(header.started_unix_ms));
    put_varint(body_, header.program_version.size());
    body_ += header.program_version;
    body_ += header.config_json;

    out.append(journal_magic.data(), journal_magic.size());
    put_fixed(out, journal_format);
    const std::size_t crc_place = out.size();
    put_fixed(out, std::uint32_t{0});
    put_fixed(out, static_cast<std::uint32_t>(body_.size()));
    out += body_;
    seal(out, crc_place);
}

void JournalWriter::append_checkpoint(std::string& out, TimePoint at, std::string_view planner_state,
                                      std::string_view coordinator_state) {
    body_.clear();
    put_f64(body_, seconds_of(at));
    put_varint(body_, planner_state.size());
    append_record(out, JournalRecordKind::checkpoint, {body_, planner_state, coordinator_state});
}

std::uint64_t JournalWriter::engine_index(std::string& out, const FpmArrived& e) {
    const EngineView name{e.role, e.fpm.worker_id, e.fpm.dp_rank};
    if (const auto known = engines_.find(name); known != engines_.end()) return known->second;
    const std::uint64_t index = engines_.size();
    engines_.emplace(Engine{e.role, {e.fpm.worker_id, e.fpm.dp_rank}}, index);
    body_.clear();
    put_varint(body_, index);
    put_fixed(body_, static_cast<std::uint8_t>(e.role));
    put_varint(body_, zigzag(e.fpm.dp_rank));
    append_record(out, JournalRecordKind::engine, {body_, e.fpm.worker_id});
    return index;
}

void JournalWriter::append_event(std::string& out, const Event& event) {
    if (const auto* fpm = std::get_if<FpmArrived>(&event.body)) {
        const std::uint64_t engine = engine_index(out, *fpm);
        body_.clear();
        put_f64(body_, seconds_of(event.at));
        put_varint(body_, engine);
        pack_fpm(body_, fpm->fpm);
        append_record(out, JournalRecordKind::fpm, {body_});
        return;
    }
    body_.clear();
    append_event_json(body_, event);
    append_record(out, JournalRecordKind::event, {body_});
}

void JournalWriter::append_effect(std::string& out, const Effect& effect) {
    body_.clear();
    append_effect_json(body_, effect);
    append_record(out, JournalRecordKind::effect, {body_});
}

void JournalWriter::append_note(std::string& out, TimePoint at, JournalNote note, std::uint64_t count,
                                std::string_view text) {
    body_.clear();
    put_f64(body_, seconds_of(at));
    put_fixed(body_, static_cast<std::uint8_t>(note));
    put_varint(body_, count);
    append_record(out, JournalRecordKind::note, {body_, text});
}

}  // namespace dynaplan::wire
