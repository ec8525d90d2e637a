// The envelope as JSON, a debugging aid (event-plane specification 3).
#include <doctest/doctest.h>

#include <string>

#include "wire/envelope_json.hpp"

namespace dynaplan::wire {
namespace {

std::string outcome(std::string_view text) {
    JsonEnvelope envelope;
    const EnvelopeResult result = decode_envelope_json(text, envelope);
    return result ? "ok" : std::string{to_string(result.error())};
}

std::string with(const std::string& member, const std::string& value) {
    std::string text = "{";
    const std::pair<const char*, const char*> members[] = {{"publisher_id", "7"},
                                                           {"sequence", "5"},
                                                           {"published_at", "9"},
                                                           {"topic", "\"t\""},
                                                           {"payload", "[128,0]"}};
    for (const auto& [name, usual] : members) {
        if (name == member && value.empty()) continue;
        if (text.size() > 1) text += ',';
        text += '"' + std::string{name} + "\":" + (name == member ? value : usual);
    }
    return text + '}';
}

TEST_CASE("envelope as JSON: the payload is a list of byte values") {
    JsonEnvelope envelope;
    REQUIRE(decode_envelope_json(with("", ""), envelope).has_value());
    CHECK(envelope.view() == Envelope{7, 5, 9, "t", std::string_view{"\x80\0", 2}});
    REQUIRE(decode_envelope_json(with("payload", "[]"), envelope).has_value());
    CHECK(envelope.payload.empty());
    CHECK(outcome(with("payload", "[256]")) == "wrong_type");
    CHECK(outcome(with("payload", "[-1]")) == "wrong_type");
    CHECK(outcome(with("payload", "[1.5]")) == "wrong_type");
    CHECK(outcome(with("payload", "\"80\"")) == "wrong_type");
}

TEST_CASE("envelope as JSON: ids keep their 64 bits and are no floats") {
    JsonEnvelope envelope;
    REQUIRE(decode_envelope_json(with("publisher_id", "18446744073709551615"), envelope).has_value());
    CHECK(envelope.publisher_id == 18'446'744'073'709'551'615ULL);
    REQUIRE(decode_envelope_json(with("sequence", "9007199254740993"), envelope).has_value());
    CHECK(envelope.sequence == 9'007'199'254'740'993ULL);
    CHECK(outcome(with("sequence", "-1")) == "wrong_type");
    CHECK(outcome(with("sequence", "5.0")) == "wrong_type");
    CHECK(outcome(with("sequence", "null")) == "wrong_type");
}

TEST_CASE("envelope as JSON: each member is required once, others are left alone") {
    for (const char* name : {"publisher_id", "sequence", "published_at", "topic", "payload"}) {
        CHECK(outcome(with(name, "")) == "missing_field");
    }
    CHECK(outcome(R"({"topic":"t","topic":"t"})") == "duplicate_field");
    CHECK(outcome(with("topic", R"("t","trace":{"topic":1})")) == "ok");
}

TEST_CASE("envelope as JSON: what is no JSON object is refused") {
    CHECK(outcome("[]") == "bad_root");
    CHECK(outcome("7") == "bad_root");
    for (const std::string& text :
         {std::string{}, std::string{"{"}, with("", "") + "x", std::string{"{\"a\":\xff}"},
          std::string(100'000, '['), std::string("{\"a\":1}\0", 8)}) {
        CHECK(outcome(text) == "bad_json");
    }
}

}  // namespace
}  // namespace dynaplan::wire
