#include "connector/decisions_file.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "connector/decision_record_json.hpp"
#include "wire/journal_bytes.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::connector {

namespace {

using nlohmann::json;
using port::DecisionRecord;
using port::StoredState;
using port::Transaction;

constexpr std::size_t hex_digits = 8;
constexpr std::size_t frame_size = hex_digits + 1 + hex_digits + 1 + 1;  // two numbers, two blanks, newline

// ---- writing

void append_hex(std::string& out, std::uint32_t v) {
    for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(v >> shift) & 0xfU];
}

void append_line(std::string& out, std::string_view text) {
    append_hex(out, static_cast<std::uint32_t>(text.size()));
    out += ' ';
    append_hex(out, wire::crc32_of(text));
    out += ' ';
    out += text;
    out += '\n';
}

// ---- reading. One member of another type makes the line senseless.

std::string read_records(const json* list, std::vector<DecisionRecord>& out) {
    if (list == nullptr) return {};
    for (const json& object : *list) {
        std::string problem = read_record(object, out.emplace_back());
        if (!problem.empty()) return "a record " + problem;
    }
    return {};
}

std::string read_state(const json& object, StoredState& state) {
    Members m{object};
    state = StoredState{};
    state.revision = static_cast<std::uint64_t>(m.needed("revision"));
    state.current = m.number("current");
    state.acknowledged = m.number("acknowledged");
    state.prefill = m.replicas("prefill");
    state.decode = m.replicas("decode");
    const json* records = m.list("records");
    if (!m.problem().empty()) return m.problem();
    return read_records(records, state.records);
}

std::string read_transaction(const json& object, StoredState& state) {
    Members m{object};
    Transaction t;
    t.expected_revision = static_cast<std::uint64_t>(m.needed("revision"));
    t.current = m.number("current");
    t.acknowledged = m.number("acknowledged");
    t.prefill = m.replicas("prefill");
    t.decode = m.replicas("decode");
    t.drop_below = m.number("drop_below").value_or(0);
    const json* put = m.list("put");
    if (!m.problem().empty()) return m.problem();
    if (std::string problem = read_records(put, t.put); !problem.empty()) return problem;
    if (port::apply(t, state)) return {};
    return "expects revision " + std::to_string(t.expected_revision) + " where the file is at " +
           std::to_string(state.revision);
}

// One line's effect on the state; what is wrong with it, or nothing.
std::string read_line(std::string_view text, bool first, StoredState& state) {
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) return "is no JSON object";
    const auto snapshot = object.find("state");
    if (snapshot != object.end()) return first ? read_state(*snapshot, state) : "is a second state";
    return first ? "is not the state that a file begins with" : read_transaction(object, state);
}

// ---- frames

std::optional<std::uint32_t> hex_at(std::string_view bytes) {
    std::uint32_t v = 0;
    const char* end = bytes.data() + hex_digits;
    const auto [stopped, error] = std::from_chars(bytes.data(), end, v, 16);
    return error == std::errc{} && stopped == end ? std::optional{v} : std::nullopt;
}

// The JSON text of the sound line at the front of `bytes`; empty when none stands there.
std::optional<std::string_view> frame_at(std::string_view bytes) {
    if (bytes.size() < frame_size) return std::nullopt;
    if (bytes[hex_digits] != ' ' || bytes[2 * hex_digits + 1] != ' ') return std::nullopt;
    const auto length = hex_at(bytes);
    const auto crc = hex_at(bytes.substr(hex_digits + 1));
    if (!length || !crc || *length > bytes.size() - frame_size) return std::nullopt;
    const std::string_view text = bytes.substr(frame_size - 1, *length);
    if (bytes[frame_size - 1 + *length] != '\n' || wire::crc32_of(text) != *crc) return std::nullopt;
    return text;
}

// Where the next sound line begins; npos when there is none. Any place may be one: the newline before it can
// be what was damaged.
std::size_t next_frame(std::string_view bytes, std::size_t from) {
    for (std::size_t at = from; at + frame_size <= bytes.size(); ++at) {
        if (frame_at(bytes.substr(at))) return at;
    }
    return std::string_view::npos;
}

tl::unexpected<Error> failure_at(std::size_t offset, std::string_view what) {
    return failure("offset " + std::to_string(offset) + ": " + std::string{what});
}

}  // namespace

void append_state_line(std::string& out, const StoredState& state) {
    std::string text;
    wire::JsonWriter w{text};
    w.begin_object().key("state").begin_object();
    w.member("revision", static_cast<std::int64_t>(state.revision)).member_if("current", state.current);
    w.member_if("acknowledged", state.acknowledged).member_if("prefill", count_of(state.prefill));
    w.member_if("decode", count_of(state.decode)).key("records").begin_array();
    for (const DecisionRecord& r : state.records) write_record(w, r);
    w.end_array().end_object().end_object();
    append_line(out, text);
}

void append_transaction_line(std::string& out, const Transaction& t) {
    std::string text;
    wire::JsonWriter w{text};
    w.begin_object().member("revision", static_cast<std::int64_t>(t.expected_revision));
    w.member_if("current", t.current).member_if("acknowledged", t.acknowledged);
    w.member_if("prefill", count_of(t.prefill)).member_if("decode", count_of(t.decode));
    if (t.drop_below != 0) w.member("drop_below", t.drop_below);
    w.key("put").begin_array();
    for (const DecisionRecord& r : t.put) write_record(w, r);
    w.end_array().end_object();
    append_line(out, text);
}

Result<DecisionsFile> read_decisions(std::string_view bytes) {
    if (!bytes.starts_with(decisions_header)) return failure_at(0, "not a decisions file of version 1");
    DecisionsFile file;
    std::size_t at = decisions_header.size();
    const std::size_t first = at;
    while (at != bytes.size()) {
        const auto text = frame_at(bytes.substr(at));
        if (!text) {
            const std::size_t next = next_frame(bytes, at + 1);
            if (next != std::string_view::npos) {
                return failure_at(
                    at, "the line is damaged, but a sound one follows at offset " + std::to_string(next));
            }
            file.torn = std::to_string(bytes.size() - at) + " bytes that are no whole line";
            break;
        }
        if (const std::string problem = read_line(*text, at == first, file.state); !problem.empty())
            return failure_at(at, "the line " + problem);
        at += frame_size + text->size();
    }
    // The state line was on the disk before the file had its name.
    if (at == first) return failure_at(first, "the state that a file begins with is missing");
    file.sound_size = at;
    return file;
}

}  // namespace dynaplan::connector
