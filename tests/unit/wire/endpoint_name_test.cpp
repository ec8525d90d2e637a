// Names of endpoints, and those of each backend (event-plane specification 4.3, connectors
// specification 5.1).
#include <doctest/doctest.h>

#include <string>

#include "wire/endpoint_name.hpp"

namespace dynaplan::wire {
namespace {

TEST_CASE("endpoint name: exactly three parts between dots") {
    const auto name = parse_endpoint_name("dynamo.backend.generate");
    REQUIRE(name.has_value());
    CHECK(*name == EndpointName{"dynamo", "backend", "generate"});
    CHECK(name->text() == "dynamo.backend.generate");
    CHECK(name->scope() == EventScope{"dynamo", "backend", "generate"});
    for (const char* text : {"", ".", "..", "a", "a.b", "a.b.", ".b.c", "a..c", "a.b.c.d", "a.b.c."}) {
        CAPTURE(text);
        CHECK_FALSE(parse_endpoint_name(text).has_value());
    }
}

TEST_CASE("endpoint name: the message shows the text in one short line") {
    CHECK(parse_endpoint_name("dyn://a").error().message ==
          "endpoint 'dyn://a': expected namespace.component.endpoint");
    const auto wrong = parse_endpoint_name("a\nb" + std::string(10'000, 'x'));
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().message.find('\n') == std::string::npos);
    CHECK(wrong.error().message.size() < 200);
}

std::string names_of(std::string_view backend, Role role, Era era) {
    const auto names = backend_names(backend, role, era);
    if (!names) return "unknown";
    return std::string{names->service} + ' ' + std::string{names->component} + ' ' +
           std::string{names->endpoint};
}

TEST_CASE("backend names: prefill workers register as prefill everywhere") {
    for (const Era era : {Era::april, Era::august}) {
        CHECK(names_of("vllm", Role::prefill, era) == "VllmPrefillWorker prefill generate");
        CHECK(names_of("sglang", Role::prefill, era) == "prefill prefill generate");
        CHECK(names_of("mocker", Role::prefill, era) == "prefill prefill generate");
    }
    CHECK(names_of("trtllm", Role::prefill, Era::april) == "TRTLLMPrefillWorker prefill generate");
    CHECK(names_of("trtllm", Role::prefill, Era::august) == "prefill prefill generate");
}

TEST_CASE("backend names: decode workers register as backend, April's trtllm by a name of its own") {
    for (const Era era : {Era::april, Era::august}) {
        CHECK(names_of("vllm", Role::decode, era) == "VllmDecodeWorker backend generate");
        CHECK(names_of("sglang", Role::decode, era) == "decode backend generate");
        CHECK(names_of("mocker", Role::decode, era) == "decode backend generate");
    }
    CHECK(names_of("trtllm", Role::decode, Era::april) == "TRTLLMDecodeWorker tensorrt_llm generate");
    CHECK(names_of("trtllm", Role::decode, Era::august) == "decode backend generate");
}

TEST_CASE("backend names: of an unknown backend nothing is known") {
    for (const char* backend : {"", "VLLM", "vllm ", "other"}) {
        CHECK(names_of(backend, Role::decode, Era::april) == "unknown");
    }
}

}  // namespace
}  // namespace dynaplan::wire
