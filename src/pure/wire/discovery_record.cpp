#include "wire/discovery_record.hpp"

#include "wire/discovery_record_json.hpp"
#include "wire/json_at_path.hpp"
#include "wire/model_card_json.hpp"

namespace dynaplan::wire {

namespace {

using nlohmann::json;

std::optional<DiscoveryRecord> model_of(const json& value) {
    const auto id = unsigned_at(value, {"instance_id"});
    if (!id) return std::nullopt;
    ModelRecord out;
    out.name_space = text_at(value, {"namespace"});
    out.component = text_at(value, {"component"});
    out.endpoint = text_at(value, {"endpoint"});
    out.instance_id = *id;
    out.model_suffix = text_at(value, {"model_suffix"});
    if (out.model_suffix && out.model_suffix->empty()) out.model_suffix.reset();
    if (const json* card = at_path(value, {"card_json"}); card != nullptr) out.card = model_card_of(*card);
    return out;
}

std::optional<DiscoveryRecord> endpoint_of(const json& value) {
    const auto name_space = text_at(value, {"namespace"});
    const auto component = text_at(value, {"component"});
    const auto endpoint = text_at(value, {"endpoint"});
    const auto id = unsigned_at(value, {"instance_id"});
    if (!name_space || !component || !endpoint || !id) return std::nullopt;
    return EndpointRecord{*name_space, *component, *endpoint, *id};
}

// August's scope object.
std::optional<EventScope> scope_of(const json& scope) {
    const auto kind = text_at(scope, {"kind"});
    if (kind == "namespace") {
        const auto name = text_at(scope, {"name"});
        if (name) return EventScope{*name, {}, {}};
    } else if (kind == "component") {
        const auto name_space = text_at(scope, {"namespace"});
        const auto component = text_at(scope, {"component"});
        if (name_space && component) return EventScope{*name_space, component, {}};
    } else if (kind == "endpoint") {
        const auto name_space = text_at(scope, {"endpoint", "namespace"});
        const auto component = text_at(scope, {"endpoint", "component"});
        const auto name = text_at(scope, {"endpoint", "name"});
        if (name_space && component && name) return EventScope{*name_space, component, name};
    }
    return std::nullopt;
}

// The scope object first; on Kubernetes August writes April's members beside it. An empty component means the
// whole namespace.
std::optional<EventScope> channel_scope(const json& value) {
    if (const json* scope = at_path(value, {"scope"}); scope != nullptr) return scope_of(*scope);
    const auto name_space = text_at(value, {"namespace"});
    if (!name_space) return std::nullopt;
    EventScope out{*name_space, text_at(value, {"component"}), {}};
    if (out.component && out.component->empty()) out.component.reset();
    return out;
}

std::optional<std::vector<std::string>> texts_of(const json* list) {
    if (list == nullptr || !list->is_array()) return std::nullopt;
    std::vector<std::string> texts;
    for (const json& one : *list) {
        if (!one.is_string()) return std::nullopt;
        texts.push_back(one.get<std::string>());
    }
    return texts;
}

std::optional<ChannelTransport> transport_of(const json& value) {
    using Kind = ChannelTransport::Kind;
    const auto kind = text_at(value, {"transport", "kind"});
    ChannelTransport out;
    if (kind == "Nats") return out;
    if (kind == "Zmq") {
        const auto endpoint = text_at(value, {"transport", "config", "endpoint"});
        if (!endpoint) return std::nullopt;
        out.kind = Kind::zmq;
        out.endpoint = *endpoint;
        return out;
    }
    if (kind != "ZmqBroker") return std::nullopt;
    auto xsub = texts_of(at_path(value, {"transport", "config", "xsub_endpoints"}));
    auto xpub = texts_of(at_path(value, {"transport", "config", "xpub_endpoints"}));
    if (!xsub || !xpub) return std::nullopt;
    out.kind = Kind::zmq_broker;
    out.xsub_endpoints = std::move(*xsub);
    out.xpub_endpoints = std::move(*xpub);
    return out;
}

std::optional<DiscoveryRecord> channel_of(const json& value) {
    auto scope = channel_scope(value);
    auto topic = text_at(value, {"topic"});
    const auto id = unsigned_at(value, {"instance_id"});
    auto transport = transport_of(value);
    if (!scope || !topic || !id || !transport) return std::nullopt;
    return ChannelRecord{std::move(*scope), std::move(*topic), *id, std::move(*transport)};
}

}  // namespace

std::optional<DiscoveryRecord> discovery_record_of(const json& value) {
    const auto type = text_at(value, {"type"});
    if (type == "Model") return model_of(value);
    if (type == "Endpoint") return endpoint_of(value);
    if (type == "EventChannel") return channel_of(value);
    return std::nullopt;
}

std::optional<DiscoveryRecord> parse_discovery_record(std::string_view text) {
    const json value = json_of(text);
    if (!value.is_object()) return std::nullopt;
    return discovery_record_of(value);
}

bool agrees(const DiscoveryKey& key, const DiscoveryRecord& record) {
    if (const auto* channel = std::get_if<ChannelRecord>(&record)) {
        return key.bucket == Bucket::event_channels && key.scope == channel->scope &&
               key.topic == channel->topic && key.id == channel->instance_id;
    }
    const auto same_names = [&](const auto& named) {
        return key.scope.name_space == named.name_space && key.scope.component == named.component &&
               key.scope.endpoint == named.endpoint && key.id == named.instance_id;
    };
    if (const auto* model = std::get_if<ModelRecord>(&record)) {
        return key.bucket == Bucket::model_cards && same_names(*model) &&
               key.suffix.value_or("") == model->model_suffix.value_or("");
    }
    return key.bucket == Bucket::instances && same_names(std::get<EndpointRecord>(record));
}

ChannelUse use_of(const ChannelRecord& channel, std::string_view topic) {
    switch (channel.transport.kind) {
        case ChannelTransport::Kind::nats: return ChannelUse::not_zmq;
        case ChannelTransport::Kind::zmq_broker: return ChannelUse::broker;
        case ChannelTransport::Kind::zmq: break;
    }
    return channel.topic == topic ? ChannelUse::connect : ChannelUse::other_topic;
}

}  // namespace dynaplan::wire
