// NATS subjects and ZeroMQ routing keys of events, in both eras (event-plane specification 4.1, 4.2, 5.2).
//
//     April   namespace.{ns}[.component.{c}].{topic}                     names as they are
//     August  namespace.{ns}[.component.{c}[.endpoint.{e}]].{topic}      names percent-encoded
//
// An April name can change the meaning of a subject: a blank splits the protocol's line, a wildcard
// subscribes to everything. Such names are refused instead of used; the client library does not do it for us.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "wire/era.hpp"
#include "wire/event_scope.hpp"

namespace dynaplan::wire {

// The subject, or why no subject may be built from these names. April refuses a name (topic included) that is
// empty, holds '*', '>' or a byte up to 0x20 or 0x7f, or has an empty part between dots; August only an empty
// one. April knows no endpoints: the scope's is left out.
Result<std::string> subject(Era era, const EventScope& scope, std::string_view topic);

// What a publisher of that era would build without asking. Only for messages and for comparison.
std::string unchecked_subject(Era era, const EventScope& scope, std::string_view topic);

// The subjects a consumer of both eras subscribes to, April's first: a publisher uses exactly one of them,
// and none stands twice, so that nothing arrives twice. A subject whose names are refused is left out, with
// the reason in `refused`.
struct DualEraSubjects {
    std::vector<std::string> subjects;
    std::vector<Error> refused;
};
DualEraSubjects dual_era_subjects(const EventScope& endpoint, std::string_view topic);

// Frame 0 of a ZeroMQ event, and the text to subscribe to: the bare topic, except behind a broker in August.
enum class ZmqMode : std::uint8_t { direct, broker };
std::string zmq_routing_key(ZmqMode mode, Era era, const EventScope& scope, std::string_view topic);

// Could this frame 0 stand before an event of this topic, in any mode of any era? Allocates nothing.
bool routing_key_fits(std::string_view routing_key, std::string_view topic);

}  // namespace dynaplan::wire
