// The event plane's vectors, chosen one by one by their kind. What each kind expects is in the event-plane
// specification, section 12.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>

#include "check_vectors/event_plane_kinds.hpp"
#include "check_vectors/fpm_json.hpp"
#include "check_vectors/kinds.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_trace.hpp"
#include "wire/fpm_trace_path.hpp"
#include "wire/fpm_trace_reader.hpp"
#include "wire/gzip.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

// Reports and returns nothing when the vector has no sound hex.
std::optional<std::string> hex_input(const json& vector, Report& report) {
    const auto bytes = bytes_of_hex(vector.at("hex").get_ref<const std::string&>());
    if (!bytes) report.fail("hex", "not hexadecimal");
    return bytes;
}

json key_of(const std::string& bytes) {
    EngineKey key;
    if (!wire::scan_engine_key(bytes, key)) return nullptr;
    return {{"worker_id", key.worker_id}, {"dp_rank", key.dp_rank}};
}

json fpm_answer(const std::string& bytes) {
    json got{{"tracker_key", key_of(bytes)}};
    wire::DecodedFpm message;
    wire::FpmResult admitted = wire::decode_fpm(bytes, message);
    if (!admitted) {
        got["decode"] = "error";
        got["error"] = to_string(admitted.error());
    } else {
        got["decode"] = "ok";
        got["fields"] = fpm_to_json(message);
        got["float_bits"] = float_bits(message.fpm);
        got["idle_heartbeat"] = is_idle_heartbeat(message.fpm.pass);
        got["regression_sample"] = message.fpm.pass.wall_time != 0.0;
        admitted = wire::admit(message);
    }
    got["policy"] = admitted ? "accept" : "drop";
    if (!admitted) got["policy_reason"] = to_string(admitted.error());
    return got;
}

bool is_nan_bits(const json& hex) {
    if (!hex.is_string()) return false;
    const auto bytes = bytes_of_hex(hex.get_ref<const std::string&>());
    if (!bytes || bytes->size() != 8) return false;
    std::uint64_t bits = 0;
    for (const char c : *bytes) bits = (bits << 8U) | static_cast<unsigned char>(c);
    return std::isnan(std::bit_cast<double>(bits));
}

// The list is complete by its definition, so a float that only one side lists is a difference.
void compare_float_bits(const json& expected, const json& got, Report& report) {
    for (const auto& [path, bits] : expected.items()) {
        const json ours = got.value(path, json{"0000000000000000"});
        if (is_nan_bits(bits) && is_nan_bits(ours)) continue;
        report.compare("float_bits." + path, bits, ours);
    }
    for (const auto& [path, bits] : got.items()) {
        if (!expected.contains(path)) report.differ_in_words("float_bits." + path, "all zero", shown(bits));
    }
}

void check_fpm(const json& vector, Report& report) {
    const auto bytes = hex_input(vector, report);
    if (!bytes) return;
    const json got = fpm_answer(*bytes);
    json expected = vector.at("expect");
    if (const auto bits = expected.find("float_bits"); bits != expected.end() && got.contains("float_bits")) {
        compare_float_bits(*bits, got.at("float_bits"), report);
        expected.erase("float_bits");
    }
    report.compare_members("", expected, got);
}

void check_trace_line(const json& vector, Report& report) {
    const auto bytes = hex_input(vector, report);
    if (!bytes) return;
    wire::TraceRecord record;
    const auto parsed = wire::parse_trace_line(*bytes, record);
    json got{{"result", parsed ? "ok" : "error"}};
    if (parsed) {
        got["timestamp"] = record.timestamp_ms;
        got["observed_at_unix_ms"] = record.observed_at_unix_ms;
        got["capture_mode"] = record.capture_mode;
        got["namespace"] = record.name_space;
        got["component"] = record.component;
        got["producer_id"] = record.producer_id;
        got["worker_id"] = record.fpm.worker_id;
        got["dp_rank"] = record.fpm.dp_rank;
        got["counter_id"] = record.fpm.pass.counter_id;
        wire::DecodedFpm message;
        message.fpm = record.fpm;
        got["fpm"] = fpm_to_json(message);
    } else {
        const auto cause = parsed.error();
        got["error"] =
            cause.cause == wire::TraceLineCause::bad_fpm ? to_string(cause.fpm) : to_string(cause.cause);
    }
    report.compare_members("", vector.at("expect"), got);
}

void check_trace_segment(const json& vector, Report& report) {
    const auto bytes = hex_input(vector, report);
    if (!bytes) return;
    json got{{"lines", 0}, {"counter_ids", json::array()}};
    wire::TraceReader reader;
    reader.feed(*bytes);
    reader.finish();
    for (auto step = reader.next(); step != wire::TraceReader::Step::end; step = reader.next()) {
        if (step == wire::TraceReader::Step::record) {
            got["counter_ids"].push_back(reader.record().fpm.pass.counter_id);
        }
    }
    got["lines"] = reader.counts().lines;
    got["result"] = reader.damage().empty() ? "ok" : "partial";
    constexpr std::size_t plain_max = std::size_t{64} << 20U;
    const auto plain = reader.compressed() ? wire::gunzip(*bytes, plain_max) : bytes;
    if (plain) got["plain_hex"] = hex_of(*plain);
    report.compare_members("", vector.at("expect"), got);
}

void check_trace_path(const json& vector, Report& report) {
    const json& input = vector.at("input");
    if (!report.only_members("input", input, {"output_path", "producer_id", "index"})) return;
    const json got{{"path", wire::trace_segment_path(input.at("output_path").get<std::string>(),
                                                     input.at("producer_id").get<std::string>(),
                                                     input.at("index").get<std::uint64_t>())}};
    report.compare_members("", vector.at("expect"), got);
}

using Check = void (*)(const json& vector, Report& report);

struct Kind {
    std::string_view name;
    Check check;
};
constexpr std::array<Kind, 15> kinds{{{"fpm", check_fpm},
                                      {"trace_line", check_trace_line},
                                      {"trace_segment", check_trace_segment},
                                      {"trace_path", check_trace_path},
                                      {"envelope_msgpack", check_envelope_msgpack},
                                      {"envelope_json", check_envelope_json},
                                      {"zmq_event", check_zmq_event},
                                      {"zmq_engine_hop", check_zmq_engine_hop},
                                      {"subject", check_subject},
                                      {"subject_set", check_subject_set},
                                      {"kv_pair", check_kv_pair},
                                      {"kv_delete", check_kv_delete},
                                      {"file_name", check_file_name},
                                      {"id_mapping", check_id_mapping},
                                      {"kube_instance_id", check_kube_instance_id}}};

void check_vector(const json& vector, Report& report) {
    const auto& kind = vector.at("kind").get_ref<const std::string&>();
    const auto* const known =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == kind; });
    if (known == kinds.end()) {
        report.fail("kind", kind + " is unknown");
        return;
    }
    if (report.only_members("vector", vector,
                            {"name", "kind", "era", "verified", "description", "note", "hex", "frames_hex",
                             "input", "key", "value_utf8", "backend", "expect"})) {
        known->check(vector, report);
    }
}

}  // namespace

void check_event_plane(const json& file, Report& report) {
    if (!same(file.at("format_version"), 1)) {
        report.fail_file("format_version " + shown(file.at("format_version")) + " is unknown");
        return;
    }
    for (const json& vector : file.at("vectors")) {
        report.run_case(vector.value("name", std::string{"(no name)"}),
                        [&] { check_vector(vector, report); });
    }
}

}  // namespace dynaplan::check_vectors
