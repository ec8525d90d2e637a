// DynamoWorkerMetadata objects: what a worker registers on Kubernetes instead of keys in a store (event-plane
// specification 7.8, connectors specification 5.2). One object per worker, its records in maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "wire/discovery_record.hpp"

namespace dynaplan::wire {

struct KubeRecords {
    std::vector<EndpointRecord> endpoints;
    std::vector<ModelRecord> model_cards;
    std::vector<ChannelRecord> event_channels;
    std::uint64_t skipped = 0;  // records, or whole maps, that cannot be read, or lie in the wrong map
};

struct KubeWorker {
    std::string name;  // of the resource
    KubeRecords records;
};

// `spec.data`: an object, or a text that holds one. A map may be missing or null, meaning empty. Ids are
// those in the records: the maps' keys need not be keys of a store. Fails when it is not JSON or no object.
Result<KubeRecords> parse_kube_records(std::string_view data);

// The whole object. Fails as above, and without a name; an object without spec.data has no records.
Result<KubeWorker> parse_kube_worker(std::string_view object);

}  // namespace dynaplan::wire
