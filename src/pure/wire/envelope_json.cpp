#include "wire/envelope_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "wire/dom_parser.hpp"

namespace dynaplan::wire {

namespace {

using simdjson::dom::element;

constexpr std::array<std::string_view, 5> names{"publisher_id", "sequence", "published_at", "topic",
                                                "payload"};

bool read_bytes(element value, std::string& out) {
    simdjson::dom::array values;
    if (value.get(values) != simdjson::SUCCESS) return false;
    for (const element one : values) {
        std::uint64_t byte = 0;
        if (one.get(byte) != simdjson::SUCCESS || byte > 0xff) return false;
        out += static_cast<char>(static_cast<unsigned char>(byte));
    }
    return true;
}

bool read_text(element value, std::string& out) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    out = text;
    return true;
}

bool read_member(std::size_t at, element value, JsonEnvelope& out) {
    switch (at) {
        case 0: return value.get(out.publisher_id) == simdjson::SUCCESS;
        case 1: return value.get(out.sequence) == simdjson::SUCCESS;
        case 2: return value.get(out.published_at) == simdjson::SUCCESS;
        case 3: return read_text(value, out.topic);
        default: return read_bytes(value, out.payload);
    }
}

}  // namespace

EnvelopeResult decode_envelope_json(std::string_view text, JsonEnvelope& out) {
    out = JsonEnvelope{};
    DomParser parser;
    element root;
    if (parser.parse(text).get(root) != simdjson::SUCCESS) return tl::unexpected{EnvelopeError::bad_json};
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) return tl::unexpected{EnvelopeError::bad_root};
    std::array<bool, names.size()> seen{};
    for (const auto [key, value] : object) {
        const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), key) - names.begin());
        if (at == names.size()) continue;
        if (seen[at]) return tl::unexpected{EnvelopeError::duplicate_field};
        seen[at] = true;
        if (!read_member(at, value, out)) return tl::unexpected{EnvelopeError::wrong_type};
    }
    if (std::find(seen.begin(), seen.end(), false) != seen.end()) {
        return tl::unexpected{EnvelopeError::missing_field};
    }
    return {};
}

}  // namespace dynaplan::wire
