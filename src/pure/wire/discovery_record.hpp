// The values under discovery keys: JSON objects tagged by `type`, of both eras (event-plane
// specification 7.2, 7.3). Only what a planner needs is read; unknown members are ignored. Ids keep their 64
// bits.
//
// A value that cannot be read is skipped by the caller and counted; it never ends a watch. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "wire/discovery_key.hpp"
#include "wire/event_scope.hpp"
#include "wire/model_card.hpp"

namespace dynaplan::wire {

// The names may be missing: the key knows them too, except on Kubernetes.
struct ModelRecord {
    std::optional<std::string> name_space;
    std::optional<std::string> component;
    std::optional<std::string> endpoint;
    std::uint64_t instance_id = 0;
    std::optional<std::string> model_suffix;  // of a LoRA adapter; an empty one counts as none
    ModelCard card;
};

struct EndpointRecord {  // a request-plane endpoint: for counting workers
    std::string name_space;
    std::string component;
    std::string endpoint;
    std::uint64_t instance_id = 0;
};

struct ChannelTransport {
    enum class Kind : std::uint8_t { nats, zmq, zmq_broker };
    Kind kind = Kind::nats;
    std::string endpoint;                     // zmq: where to connect
    std::vector<std::string> xsub_endpoints;  // zmq_broker: where publishers connect
    std::vector<std::string> xpub_endpoints;  // zmq_broker: where subscribers connect
    // With more than one way to subscribe an event may arrive twice: August's readers drop repeats of
    // (publisher_id, sequence). In April that pair repeats by itself, so it must not be done there.
    [[nodiscard]] bool deduplicate() const { return xpub_endpoints.size() > 1; }
};

struct ChannelRecord {
    EventScope scope;
    std::string topic;
    std::uint64_t instance_id = 0;  // the process in April, the publisher in August
    ChannelTransport transport;
};

using DiscoveryRecord = std::variant<ModelRecord, EndpointRecord, ChannelRecord>;

// Nothing when the text is not JSON, not an object, of another type, or lacks what every record has.
std::optional<DiscoveryRecord> parse_discovery_record(std::string_view json);

// Do key and value say the same, ids and names? Where they do not, the key's id counts (a delete shows only
// the key), and the disagreement is worth a count.
bool agrees(const DiscoveryKey& key, const DiscoveryRecord& record);

// What to do about an event channel when looking for one topic.
enum class ChannelUse : std::uint8_t {
    connect,  // a publisher of this topic: connect to transport.endpoint
    broker,   // a broker; its record's topic says nothing
    not_zmq,  // informational
    other_topic,
};
ChannelUse use_of(const ChannelRecord& channel, std::string_view topic);

}  // namespace dynaplan::wire
