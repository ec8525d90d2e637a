#include "wire/discovery_key.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "wire/instance_id.hpp"
#include "wire/percent.hpp"

namespace dynaplan::wire {

namespace {

constexpr Kept kept = Kept::letters_digits_dash_underscore;
constexpr std::array<Bucket, 4> buckets{Bucket::instances, Bucket::model_cards, Bucket::event_channels,
                                        Bucket::event_sources};
constexpr std::size_t parts_max = 9;  // of the longest key, an August channel with an endpoint

using Parts = std::vector<std::string_view>;

// One more than parts_max says that there are too many.
Parts parts_of(std::string_view text) {
    Parts parts;
    while (parts.size() <= parts_max) {
        const std::size_t slash = text.find('/');
        parts.push_back(text.substr(0, slash));
        if (slash == std::string_view::npos) break;
        text.remove_prefix(slash + 1);
    }
    return parts;
}

std::optional<DiscoveryKey> instance_or_card(Bucket bucket, const Parts& parts) {
    const bool adapter = bucket == Bucket::model_cards && parts.size() == 5;
    if (parts.size() != 4 && !adapter) return std::nullopt;
    const auto id = id_from_hex(parts[3]);
    if (!id) return std::nullopt;
    DiscoveryKey key{
        bucket, {std::string{parts[0]}, std::string{parts[1]}, std::string{parts[2]}}, {}, *id, {}};
    if (adapter) key.suffix = std::string{parts[4]};
    return key;
}

std::optional<DiscoveryKey> april_channel(Bucket bucket, const Parts& parts) {
    const auto id = id_from_hex(parts[3]);
    if (!id) return std::nullopt;
    DiscoveryKey key{bucket, {std::string{parts[0]}, {}, {}}, std::string{parts[2]}, *id, {}};
    if (!parts[1].empty()) key.scope.component = std::string{parts[1]};
    return key;
}

std::optional<DiscoveryKey> august_channel(Bucket bucket, const Parts& parts) {
    constexpr std::array<std::string_view, 3> words{"namespace", "component", "endpoint"};
    const std::size_t names = (parts.size() - 3) / 2;
    for (std::size_t i = 0; i < names; ++i) {
        if (parts[2 * i] != words[i]) return std::nullopt;
    }
    if (parts[2 * names] != "topic") return std::nullopt;
    const auto id = id_from_hex(parts.back());
    auto topic = percent_decoded(parts[parts.size() - 2]);
    auto name_space = percent_decoded(parts[1]);
    if (!id || !topic || !name_space) return std::nullopt;
    DiscoveryKey key{bucket, {std::move(*name_space), {}, {}}, std::move(*topic), *id, {}};
    if (names > 1) {
        key.scope.component = percent_decoded(parts[3]);
        if (!key.scope.component) return std::nullopt;
    }
    if (names > 2) {
        key.scope.endpoint = percent_decoded(parts[5]);
        if (!key.scope.endpoint) return std::nullopt;
    }
    return key;
}

std::string path(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        if (!text.empty()) text += '/';
        text += part;
    }
    return text;
}

std::string august_channel_text(const DiscoveryKey& key) {
    std::string text =
        path({to_string(key.bucket), "namespace", percent_encoded(key.scope.name_space, kept)});
    if (key.scope.component) {
        text += path({"/component", percent_encoded(*key.scope.component, kept)});
        if (key.scope.endpoint) text += path({"/endpoint", percent_encoded(*key.scope.endpoint, kept)});
    }
    return text + path({"/topic", percent_encoded(key.topic, kept), hex_of_id(key.id)});
}

}  // namespace

std::string_view to_string(Bucket bucket) {
    switch (bucket) {
        case Bucket::instances: return "v1/instances";
        case Bucket::model_cards: return "v1/mdc";
        case Bucket::event_channels: return "v1/event_channels";
        case Bucket::event_sources: return "v1/event_sources";
    }
    return "unknown";
}

std::optional<DiscoveryKey> parse_key_in_bucket(Bucket bucket, std::string_view relative) {
    const Parts parts = parts_of(relative);
    if (bucket == Bucket::instances || bucket == Bucket::model_cards) return instance_or_card(bucket, parts);
    switch (parts.size()) {
        // August's sources have no April form.
        case 4: return bucket == Bucket::event_channels ? april_channel(bucket, parts) : std::nullopt;
        case 5:
        case 7:
        case 9: return august_channel(bucket, parts);
        default: return std::nullopt;
    }
}

std::optional<DiscoveryKey> parse_discovery_key(std::string_view key) {
    for (const Bucket bucket : buckets) {
        const std::string_view name = to_string(bucket);
        if (key.size() > name.size() && key.starts_with(name) && key[name.size()] == '/') {
            return parse_key_in_bucket(bucket, key.substr(name.size() + 1));
        }
    }
    return std::nullopt;
}

std::string text_of(const DiscoveryKey& key, Era era) {
    const std::string id = hex_of_id(key.id);
    const std::string component = key.scope.component.value_or("");
    if (key.bucket == Bucket::instances || key.bucket == Bucket::model_cards) {
        std::string text = path({to_string(key.bucket), key.scope.name_space}) + '/' + component + '/' +
                           key.scope.endpoint.value_or("") + '/' + id;
        if (key.suffix) text += '/' + *key.suffix;
        return text;
    }
    if (era == Era::august) return august_channel_text(key);
    return path({to_string(key.bucket), key.scope.name_space}) + '/' + component + '/' + key.topic + '/' + id;
}

bool is_under(std::string_view key, std::string_view prefix) {
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    return prefix.empty() ||
           (key.starts_with(prefix) && (key.size() == prefix.size() || key[prefix.size()] == '/'));
}

std::string file_name_of(std::string_view relative_key) {
    return percent_encoded(relative_key, Kept::letters_digits);
}

std::optional<std::string> key_of_file_name(std::string_view file_name) {
    if (file_name.empty()) return std::nullopt;
    auto key = percent_decoded(file_name);
    // The store writes one name for a key. Another spelling of it would be the same record a second time; and
    // unfinished writes begin with a dot, which is never written as it is.
    if (!key || !is_percent_encoded_form(file_name, *key, Kept::letters_digits)) return std::nullopt;
    return key;
}

}  // namespace dynaplan::wire
