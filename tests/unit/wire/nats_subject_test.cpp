// Subjects of NATS and routing keys of ZeroMQ (event-plane specification 4.1, 4.2, 5.2).
#include <doctest/doctest.h>

#include <string>

#include "wire/envelope.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::wire {
namespace {

const EventScope backend{"dynamo", "backend", "generate"};

// The subject, or "refused".
std::string built(Era era, const EventScope& scope, std::string_view topic = fpm_topic) {
    const auto text = subject(era, scope, topic);
    return text ? *text : "refused";
}

// April's subject with this text for one name after the other; all four have to be treated alike.
std::string april_with(const std::string& name) {
    const std::string as_namespace = built(Era::april, {name, "c", {}}, "t");
    const std::string as_component = built(Era::april, {"n", name, {}}, "t");
    const std::string as_topic = built(Era::april, {"n", "c", {}}, name);
    CHECK((as_namespace == "refused") == (as_component == "refused"));
    CHECK((as_namespace == "refused") == (as_topic == "refused"));
    return as_component;
}

TEST_CASE("subject: April puts the names in as they are and knows no endpoint") {
    CHECK(built(Era::april, backend) == "namespace.dynamo.component.backend.forward-pass-metrics");
    CHECK(built(Era::april, {"dynamo", {}, {}}, "t") == "namespace.dynamo.t");
    CHECK(built(Era::april, {"parent.child", "backend", {}}, "t") ==
          "namespace.parent.child.component.backend.t");
    CHECK(april_with("w\xc3\xa4hler%/~+") == "namespace.n.component.w\xc3\xa4hler%/~+.t");
}

TEST_CASE("subject: April refuses a name that would change what the subject means") {
    for (const char* name : {"", "*", "back*", ">", "a>", ".", "a..b", ".a", "a.", "..", "a b", "a\tb",
                             "a\nb", "a\rb", "\x01", "\x1f", "\x7f", " a", "a "}) {
        CAPTURE(name);
        CHECK(april_with(name) == "refused");
    }
    CHECK(april_with(std::string{"a\0b", 3}) == "refused");
    for (const char* name : {"a.b", "a.b.c", "!", "~", "\x80", "\xff"}) {
        CAPTURE(name);
        CHECK(april_with(name) != "refused");
    }
}

TEST_CASE("subject: April does not look at the endpoint, which it does not use") {
    CHECK(built(Era::april, {"dynamo", "backend", "bad *"}, "t") == "namespace.dynamo.component.backend.t");
}

TEST_CASE("subject: August encodes every name, the topic too, in upper-case hex") {
    CHECK(built(Era::august, backend) ==
          "namespace.dynamo.component.backend.endpoint.generate.forward-pass-metrics");
    CHECK(built(Era::august, {"dynamo", {}, {}}, "t") == "namespace.dynamo.t");
    CHECK(built(Era::august, {"dynamo", "backend", {}}, "t") == "namespace.dynamo.component.backend.t");
    CHECK(built(Era::august, {"ns.one", "a/*", "b>c"}, "t ~+%") ==
          "namespace.ns%2Eone.component.a%2F%2A.endpoint.b%3Ec.t%20%7E%2B%25");
    CHECK(built(Era::august, {"w\xc3\xa4hler", "Case_Kept-9", std::string{"\0", 1}}, "\n") ==
          "namespace.w%C3%A4hler.component.Case_Kept-9.endpoint.%00.%0A");
}

TEST_CASE("subject: August refuses an empty name and nothing else") {
    CHECK(built(Era::august, {"", "c", "e"}, "t") == "refused");
    CHECK(built(Era::august, {"n", "", "e"}, "t") == "refused");
    CHECK(built(Era::august, {"n", "c", ""}, "t") == "refused");
    CHECK(built(Era::august, {"n", "c", "e"}, "") == "refused");
    CHECK(built(Era::august, {"*", ">", "."}, " ") == "namespace.%2A.component.%3E.endpoint.%2E.%20");
}

TEST_CASE("subject: an endpoint without a component is no part of the scope") {
    CHECK(built(Era::august, {"n", {}, "e"}, "t") == "namespace.n.t");
}

TEST_CASE("subject: the message names the first bad name in one short line") {
    const auto refused = subject(Era::april, {"a", std::string(1000, '\n') + "*", {}}, "");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.starts_with("no NATS subject: the component '?"));
    CHECK(refused.error().message.ends_with("holds a blank or a control character"));
    CHECK(refused.error().message.find('\n') == std::string::npos);
    CHECK(refused.error().message.size() < 200);
    CHECK(subject(Era::april, {"a", "b*", {}}, "t").error().message ==
          "no NATS subject: the component 'b*' holds a wildcard of NATS");
    CHECK(subject(Era::august, {"a", "b", "c"}, "").error().message ==
          "no NATS subject: the topic '' is empty");
}

TEST_CASE("dual-era subscription: both exact subjects, April's first") {
    const auto both = dual_era_subjects(backend, fpm_topic);
    CHECK(both.subjects == std::vector<std::string>{
                               "namespace.dynamo.component.backend.forward-pass-metrics",
                               "namespace.dynamo.component.backend.endpoint.generate.forward-pass-metrics"});
    CHECK(both.refused.empty());
}

TEST_CASE("dual-era subscription: a name that April refuses leaves August's subject") {
    const auto one = dual_era_subjects({"dynamo", "*", "generate"}, fpm_topic);
    CHECK(one.subjects ==
          std::vector<std::string>{"namespace.dynamo.component.%2A.endpoint.generate.forward-pass-metrics"});
    CHECK(one.refused.size() == 1);
    const auto none = dual_era_subjects({"", "c", "e"}, fpm_topic);
    CHECK(none.subjects.empty());
    CHECK(none.refused.size() == 2);
}

TEST_CASE("dual-era subscription: where both eras have one subject it stands once") {
    CHECK(dual_era_subjects({"dynamo", "backend", {}}, "t").subjects.size() == 1);
    CHECK(dual_era_subjects({"ns.one", "backend", {}}, "t").subjects.size() == 2);
}

TEST_CASE("routing key: the bare topic, and August's encoded subject behind a broker") {
    CHECK(zmq_routing_key(ZmqMode::direct, Era::april, backend, "a topic") == "a topic");
    CHECK(zmq_routing_key(ZmqMode::direct, Era::august, backend, "a topic") == "a topic");
    CHECK(zmq_routing_key(ZmqMode::broker, Era::april, backend, "a topic") == "a topic");
    CHECK(zmq_routing_key(ZmqMode::broker, Era::august, backend, "a topic") ==
          "namespace.dynamo.component.backend.endpoint.generate.a%20topic");
}

TEST_CASE("routing key: one that fits is the topic, or a subject that ends with it") {
    CHECK(routing_key_fits("a topic", "a topic"));
    CHECK(routing_key_fits("namespace.n.a%20topic", "a topic"));
    CHECK_FALSE(routing_key_fits("namespace.n.a topic", "a topic"));
    CHECK_FALSE(routing_key_fits("namespace.n.a%20topi", "a topic"));
    CHECK_FALSE(routing_key_fits("namespace.n.a%20topics", "a topic"));
    CHECK_FALSE(routing_key_fits("n.a%20topic", "a topic"));
    CHECK_FALSE(routing_key_fits("a topic2", "a topic"));
    CHECK_FALSE(routing_key_fits("", "a topic"));
    CHECK_FALSE(routing_key_fits("namespace.", "a topic"));
}

}  // namespace
}  // namespace dynaplan::wire
