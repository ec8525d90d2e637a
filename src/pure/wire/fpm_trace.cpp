#include "wire/fpm_trace.hpp"

#include <optional>

#include "wire/dom_parser.hpp"
#include "wire/fpm_json.hpp"
#include "wire/fpm_json_dom.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::wire {

namespace {

namespace dom = simdjson::dom;
using Cause = TraceLineCause;

tl::unexpected<TraceLineError> refused(Cause cause) { return tl::unexpected{TraceLineError{cause, {}}}; }

// What a line's members are, before anything is said about their types: of a repeated one the last.
struct Line {
    std::optional<dom::element> timestamp;
    std::optional<dom::element> event;
    std::optional<dom::element> schema;
    std::optional<dom::element> source;
    std::optional<dom::element> capture_mode;
    std::optional<dom::element> observed_at;
    std::optional<dom::element> fpm;
};

void collect_line(dom::object object, Line& line) {
    for (const dom::key_value_pair member : object) {
        if (member.key == "timestamp") line.timestamp = member.value;
        if (member.key == "event") line.event = member.value;
    }
}

void collect_event(dom::object object, Line& line) {
    for (const dom::key_value_pair member : object) {
        if (member.key == "schema") line.schema = member.value;
        if (member.key == "source") line.source = member.value;
        if (member.key == "capture_mode") line.capture_mode = member.value;
        if (member.key == "observed_at_unix_ms") line.observed_at = member.value;
        if (member.key == "fpm") line.fpm = member.value;
    }
}

TraceLineResult read_time(const std::optional<dom::element>& element, std::int64_t& out) {
    out = 0;
    if (!element) return {};
    if (element->type() == dom::element_type::UINT64) return refused(Cause::out_of_range);
    if (element->type() != dom::element_type::INT64) return refused(Cause::wrong_type);
    if (element->get(out) != simdjson::SUCCESS) return refused(Cause::wrong_type);
    return {};
}

bool read_text(dom::element element, std::string& out) {
    std::string_view text;
    if (element.get(text) != simdjson::SUCCESS) return false;
    out.assign(text);
    return true;
}

bool read_source(dom::element element, TraceRecord& out) {
    dom::object source;
    if (element.get(source) != simdjson::SUCCESS) return false;
    for (const dom::key_value_pair member : source) {
        bool taken = true;
        if (member.key == "namespace") taken = read_text(member.value, out.name_space);
        if (member.key == "component") taken = read_text(member.value, out.component);
        if (member.key == "producer_id") taken = read_text(member.value, out.producer_id);
        if (!taken) return false;
    }
    return true;
}

TraceLineResult read_line(dom::element root, TraceRecord& out) {
    Line line;
    dom::object object;
    if (root.get(object) != simdjson::SUCCESS) return refused(Cause::other_line);
    collect_line(object, line);
    dom::object event;
    if (!line.event || line.event->get(event) != simdjson::SUCCESS) return refused(Cause::other_line);
    collect_event(event, line);
    std::string_view schema;
    if (!line.schema || line.schema->get(schema) != simdjson::SUCCESS || schema != fpm_trace_schema) {
        return refused(Cause::other_line);
    }

    if (const auto read = read_time(line.timestamp, out.timestamp_ms); !read) return read;
    out.name_space.clear();
    out.component.clear();
    out.producer_id.clear();
    out.capture_mode.clear();
    if (line.source && !read_source(*line.source, out)) return refused(Cause::wrong_type);
    if (line.capture_mode && !read_text(*line.capture_mode, out.capture_mode)) {
        return refused(Cause::wrong_type);
    }
    if (!line.observed_at || !line.fpm) return refused(Cause::missing_field);
    if (const auto read = read_time(line.observed_at, out.observed_at_unix_ms); !read) return read;
    if (const auto read = read_fpm_json(*line.fpm, out.fpm); !read) {
        return tl::unexpected{TraceLineError{Cause::bad_fpm, read.error()}};
    }
    return {};
}

void append_member(std::string& out, std::string_view opening, std::string_view text) {
    out += opening;
    append_json_text(out, text);
}

}  // namespace

std::string_view to_string(TraceLineCause cause) {
    switch (cause) {
        case Cause::bad_json: return "bad_json";
        case Cause::other_line: return "other_line";
        case Cause::missing_field: return "missing_field";
        case Cause::wrong_type: return "wrong_type";
        case Cause::out_of_range: return "out_of_range";
        case Cause::bad_fpm: return "bad_fpm";
        case Cause::too_long: return "too_long";
    }
    return "unknown";
}

std::string describe(TraceLineError error) {
    std::string text{to_string(error.cause)};
    if (error.cause == Cause::bad_fpm) text.append(": ").append(to_string(error.fpm));
    return text;
}

struct TraceLineParser::Parser {
    DomParser dom;
};

TraceLineParser::TraceLineParser() : parser_{std::make_unique<Parser>()} {}
TraceLineParser::~TraceLineParser() = default;
TraceLineParser::TraceLineParser(TraceLineParser&&) noexcept = default;
TraceLineParser& TraceLineParser::operator=(TraceLineParser&&) noexcept = default;

TraceLineResult TraceLineParser::parse(std::string_view line, TraceRecord& out) {
    dom::element root;
    if (parser_->dom.parse(line).get(root) != simdjson::SUCCESS) return refused(Cause::bad_json);
    return read_line(root, out);
}

TraceLineResult parse_trace_line(std::string_view line, TraceRecord& out) {
    return TraceLineParser{}.parse(line, out);
}

void append_trace_line(std::string& out, const TraceRecord& record) {
    out += R"({"timestamp":)";
    append_json_number(out, record.timestamp_ms);
    append_member(out, R"(,"event":{"schema":)", fpm_trace_schema);
    append_member(out, R"(,"source":{"namespace":)", record.name_space);
    append_member(out, R"(,"component":)", record.component);
    append_member(out, R"(,"producer_id":)", record.producer_id);
    append_member(out, R"(},"capture_mode":)", record.capture_mode);
    out += R"(,"observed_at_unix_ms":)";
    append_json_number(out, record.observed_at_unix_ms);
    out += R"(,"fpm":)";
    append_fpm_json(out, record.fpm);
    out += "}}\n";
}

}  // namespace dynaplan::wire
