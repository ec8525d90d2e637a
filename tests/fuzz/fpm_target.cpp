#include <bit>
#include <cstdint>
#include <cstring>

#include "fuzz/msgpack_twin.hpp"
#include "fuzz/targets.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_encode.hpp"
#include "wire/fpm_json.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

// Equal to the last bit, but any NaN is any NaN; then the text of both says it all.
bool same(const DecodedFpm& a, const DecodedFpm& b) {
    std::string x;
    std::string y;
    encode_fpm(a.fpm, x);
    encode_fpm(b.fpm, y);
    if (x == y) return a.beyond_int64 == b.beyond_int64;
    x.clear();
    y.clear();
    append_fpm_json(x, a.fpm);  // writes null for every NaN and infinity
    append_fpm_json(y, b.fpm);
    return x == y && a.beyond_int64 == b.beyond_int64 && x.find("null") != std::string::npos;
}

std::string name(const FpmResult& result) { return result ? "ok" : std::string{to_string(result.error())}; }

std::string against_twin(const FpmResult& decoded, const DecodedFpm& message, const TwinAnswer& twin) {
    if (!twin.well_formed) {
        return decoded ? "decode_fpm took bytes that msgpack-c cannot read" : "";
    }
    if (!twin.error && !decoded) return "decode_fpm refused a sound message: " + name(decoded);
    if (twin.error && decoded)
        return "decode_fpm took what the twin refuses: " + std::string{to_string(*twin.error)};
    if (twin.error && *twin.error != decoded.error()) {
        return "refused for " + name(decoded) + ", the twin says " + std::string{to_string(*twin.error)};
    }
    if (!twin.error && !same(message, twin.message)) return "decode_fpm and the twin read other values";
    return "";
}

}  // namespace

std::string try_fpm(std::string_view bytes) {
    DecodedFpm message;
    DecodedFpm general;
    const FpmResult decoded = decode_fpm(bytes, message);
    const FpmResult again = decode_fpm_any_order(bytes, general);
    if (name(decoded) != name(again)) return "the paths disagree: " + name(decoded) + " and " + name(again);
    EngineKey key;
    const bool scanned = scan_engine_key(bytes, key);
    if (decoded) {
        if (!same(message, general)) return "the paths read other values";
        if (message.has_engine_key != general.has_engine_key) return "the paths disagree on the key";
        if (message.has_engine_key != scanned) return "the key scan disagrees with the decoder";
    }
    if (std::string problem = against_twin(decoded, message, twin_decode(bytes)); !problem.empty())
        return problem;
    if (!decoded || !admit(message)) return "";

    std::string encoded;
    encode_fpm(message.fpm, encoded);
    DecodedFpm back;
    if (!decode_fpm(encoded, back) || !(back.fpm == message.fpm)) return "encoding changed the report";
    std::string json;
    append_fpm_json(json, message.fpm);
    Fpm read;
    if (!FpmJsonReader{}.read(json, read) || !(read == message.fpm)) return "JSON changed the report";
    return "";
}

}  // namespace dynaplan::fuzz
