#include "fuzz/envelope_twin.hpp"
#include "fuzz/targets.hpp"
#include "wire/envelope.hpp"
#include "wire/envelope_json.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

std::string name(const EnvelopeResult& result) {
    return result ? "ok" : std::string{to_string(result.error())};
}

bool lies_in(std::string_view part, std::string_view whole) {
    return part.empty() ||
           (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

std::string against_twin(const EnvelopeResult& decoded, const Envelope& envelope,
                         const EnvelopeTwinAnswer& twin) {
    if (!twin.well_formed) return decoded ? "decode_envelope took bytes that msgpack-c cannot read" : "";
    const std::string expected = twin.error ? std::string{to_string(*twin.error)} : "ok";
    if (name(decoded) != expected) return "decode_envelope says " + name(decoded) + ", the twin " + expected;
    if (decoded && !(envelope == twin.envelope.view()))
        return "decode_envelope and the twin read other values";
    return "";
}

// What was read is the same after writing, which is in the order that publishers use.
std::string written_again(const Envelope& envelope) {
    std::string bytes;
    encode_envelope(envelope, bytes);
    Envelope back;
    if (!decode_envelope(bytes, back) || !(back == envelope)) return "encoding changed the envelope";
    return "";
}

}  // namespace

std::string try_envelope(std::string_view bytes) {
    Envelope envelope;
    Envelope general;
    const EnvelopeResult decoded = decode_envelope(bytes, envelope);
    const EnvelopeResult again = decode_envelope_any_order(bytes, general);
    if (name(decoded) != name(again)) return "the paths disagree: " + name(decoded) + " and " + name(again);
    if (decoded) {
        if (!(envelope == general)) return "the paths read other values";
        if (!lies_in(envelope.topic, bytes) || !lies_in(envelope.payload, bytes)) {
            return "a view outside the message";
        }
        if (std::string problem = written_again(envelope); !problem.empty()) return problem;
    }
    if (std::string problem = against_twin(decoded, envelope, twin_decode_envelope(bytes)); !problem.empty())
        return problem;

    JsonEnvelope from_json;
    if (decode_envelope_json(bytes, from_json)) return written_again(from_json.view());
    return "";
}

}  // namespace dynaplan::fuzz
