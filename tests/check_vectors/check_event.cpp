// Envelopes, frames and subjects.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check_vectors/event_plane_kinds.hpp"
#include "check_vectors/fpm_json.hpp"
#include "wire/envelope.hpp"
#include "wire/envelope_json.hpp"
#include "wire/nats_subject.hpp"
#include "wire/zmq_frames.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

json json_of_envelope(const wire::EnvelopeResult& result, const wire::Envelope& envelope) {
    if (!result) return {{"decode", "error"}, {"error", to_string(result.error())}};
    return {{"decode", "ok"},
            {"publisher_id", envelope.publisher_id},
            {"sequence", envelope.sequence},
            {"published_at", envelope.published_at},
            {"topic", envelope.topic},
            {"payload_hex", hex_of(envelope.payload)},
            {"filtered", envelope.topic != wire::fpm_topic}};
}

// The eras differ, and nobody sends it: reading these bytes and refusing them both pass. What must not happen
// is reading other bytes.
void compare_either(const json& expected, json got, Report& report) {
    if (!report.only_members("expect", expected, {"decode", "april", "august", "payload_hex"})) return;
    const json& april = expected.at("april");
    const json& august = expected.at("august");
    const bool sound = (april == "ok" && august == "error") || (april == "error" && august == "ok");
    if (!sound) report.fail("expect", "either is for what one era reads and the other refuses");
    if (got.at("decode") == "ok")
        report.compare("payload_hex", expected.at("payload_hex"), got["payload_hex"]);
}

void compare_envelope(const json& expected, const json& got, Report& report) {
    if (expected.value("decode", json{}) == "either") {
        compare_either(expected, got, report);
    } else {
        report.compare_members("", expected, got);
    }
}

// Owns the frames' bytes.
struct FrameBytes {
    std::vector<std::string> bytes;
    std::vector<std::string_view> views;
};

std::optional<FrameBytes> frames_of(const json& vector, Report& report) {
    FrameBytes out;
    for (const json& hex : vector.at("frames_hex")) {
        auto bytes = bytes_of_hex(hex.get_ref<const std::string&>());
        if (!bytes) {
            report.fail("frames_hex", "not hexadecimal");
            return std::nullopt;
        }
        out.bytes.push_back(std::move(*bytes));
    }
    for (const std::string& bytes : out.bytes) out.views.emplace_back(bytes);
    return out;
}

// An absent or null name is no part of the scope.
std::optional<std::string> name_of(const json& input, const char* member) {
    const auto name = input.find(member);
    if (name == input.end() || name->is_null()) return std::nullopt;
    return name->get<std::string>();
}

wire::EventScope scope_of(const json& input) {
    return {input.at("namespace").get<std::string>(), name_of(input, "component"),
            name_of(input, "endpoint")};
}

}  // namespace

void check_envelope_msgpack(const json& vector, Report& report) {
    const auto bytes = bytes_of_hex(vector.at("hex").get_ref<const std::string&>());
    if (!bytes) return report.fail("hex", "not hexadecimal");
    wire::Envelope envelope;
    const auto result = wire::decode_envelope(*bytes, envelope);
    compare_envelope(vector.at("expect"), json_of_envelope(result, envelope), report);
}

void check_envelope_json(const json& vector, Report& report) {
    const auto bytes = bytes_of_hex(vector.at("hex").get_ref<const std::string&>());
    if (!bytes) return report.fail("hex", "not hexadecimal");
    wire::JsonEnvelope envelope;
    const auto result = wire::decode_envelope_json(*bytes, envelope);
    compare_envelope(vector.at("expect"), json_of_envelope(result, envelope.view()), report);
}

void check_zmq_event(const json& vector, Report& report) {
    const auto frames = frames_of(vector, report);
    if (!frames) return;
    wire::EventMessage message;
    const auto read = wire::read_event(frames->views, wire::fpm_topic, message);
    json got;
    if (!read) {
        got = {{"result", "drop"}, {"strict_result", "drop"}, {"error", to_string(read.error())}};
    } else {
        got = {{"result", "ok"},
               {"strict_result", message.identity_mismatch ? "drop" : "ok"},
               {"frame_topic", message.routing_key},
               {"publisher_id", message.envelope.publisher_id},
               {"sequence", message.envelope.sequence},
               {"published_at", message.envelope.published_at},
               {"topic", message.envelope.topic},
               {"envelope_hex", hex_of(message.envelope_bytes)},
               {"payload_hex", hex_of(message.envelope.payload)}};
        if (message.identity_mismatch) got["error"] = "identity_mismatch";
    }
    report.compare_members("", vector.at("expect"), got);
}

void check_zmq_engine_hop(const json& vector, Report& report) {
    const auto frames = frames_of(vector, report);
    if (!frames) return;
    wire::EngineHopMessage message;
    json got{{"result", "drop"}, {"error", "frame_count"}};
    if (wire::read_engine_hop(frames->views, message)) {
        got = {{"result", "ok"}, {"sequence", nullptr}, {"payload_hex", hex_of(message.payload)}};
        got["frame_topic"] = frames->views[0];
        if (message.sequence) got["sequence"] = *message.sequence;
    }
    report.compare_members("", vector.at("expect"), got);
}

void check_subject(const json& vector, Report& report) {
    const json& input = vector.at("input");
    if (!report.only_members("input", input, {"namespace", "component", "endpoint", "topic"})) return;
    const json& era_name = vector.at("era");
    if (era_name != "april" && era_name != "august") {
        return report.fail("era", "a subject is of one era, not of " + shown(era_name));
    }
    const wire::Era era = era_name == "april" ? wire::Era::april : wire::Era::august;
    const wire::EventScope scope = scope_of(input);
    const auto topic = input.at("topic").get<std::string>();
    const auto subject = wire::subject(era, scope, topic);
    const json got{{"subject", subject ? *subject : wire::unchecked_subject(era, scope, topic)},
                   {"policy", subject ? "accept" : "reject"}};
    report.compare_members("", vector.at("expect"), got);
}

void check_subject_set(const json& vector, Report& report) {
    const json& input = vector.at("input");
    if (!report.only_members("input", input, {"namespace", "component", "endpoint", "topic"})) return;
    const auto set = wire::dual_era_subjects(scope_of(input), input.at("topic").get<std::string>());
    report.compare_members(
        "", vector.at("expect"),
        {{"subjects", set.subjects}, {"policy", set.refused.empty() ? "accept" : "reject"}});
}

}  // namespace dynaplan::check_vectors
