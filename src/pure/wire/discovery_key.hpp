// The keys under which Dynamo's processes register, in etcd and in the file store, of both eras
// (event-plane specification 7.1, 7.6).
//
//     v1/instances/{ns}/{component}/{endpoint}/{id}
//     v1/mdc/{ns}/{component}/{endpoint}/{id}[/{suffix}]                  the suffix names a LoRA adapter
//     v1/event_channels/{ns}/{component}/{topic}/{id}                     April; no component: empty
//     v1/event_channels/namespace/{ns}[/component/{c}[/endpoint/{e}]]/topic/{topic}/{id}     August, encoded
//
// Pure text; nothing here looks at values. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/era.hpp"
#include "wire/event_scope.hpp"

namespace dynaplan::wire {

enum class Bucket : std::uint8_t { instances, model_cards, event_channels, event_sources };

// "v1/instances", "v1/mdc", "v1/event_channels", "v1/event_sources"
std::string_view to_string(Bucket);

struct DiscoveryKey {
    Bucket bucket = Bucket::instances;
    EventScope scope;   // all three names for instances and model cards
    std::string topic;  // channels and sources only
    std::uint64_t id = 0;
    std::optional<std::string> suffix;  // model cards of adapters only
    bool operator==(const DiscoveryKey&) const = default;
};

// Nothing for any other key: another bucket, another number of parts, an id that is not 1 to 16 hex digits, a
// broken escape. A record goes by the id in its key, since a delete shows nothing else.
std::optional<DiscoveryKey> parse_discovery_key(std::string_view key);
// The same below a bucket, as Kubernetes' maps and the file store's names have it.
std::optional<DiscoveryKey> parse_key_in_bucket(Bucket bucket, std::string_view relative);

// The whole key. Instances and cards are the same in both eras; channels are written in the era's layout.
std::string text_of(const DiscoveryKey& key, Era era);

// Is the key the prefix itself, or below it as a path? `v1/mdc/dynamo/backend` does not hold
// `v1/mdc/dynamo/backend2/...`, though the text does. A closing slash of the prefix changes nothing.
bool is_under(std::string_view key, std::string_view prefix);

// The file store: a bucket is a directory, the key below it one file name, every byte but letters and digits
// escaped, so also the percent signs of an August key.
std::string file_name_of(std::string_view relative_key);
// The key below the bucket; nothing for names that the store does not write, unfinished writes (`.tmp_` and
// 16 hex digits) among them.
std::optional<std::string> key_of_file_name(std::string_view file_name);

}  // namespace dynaplan::wire
