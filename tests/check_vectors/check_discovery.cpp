// Discovery: keys, values, ids.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "check_vectors/event_plane_kinds.hpp"
#include "check_vectors/fpm_json.hpp"
#include "wire/discovery_key.hpp"
#include "wire/discovery_record.hpp"
#include "wire/envelope.hpp"
#include "wire/instance_id.hpp"
#include "wire/kube_metadata.hpp"
#include "wire/worker_cards.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

json ignored(std::string_view reason) { return {{"result", "ignore"}, {"reason", reason}}; }

json json_of_card(const wire::ModelCard& card) {
    return {{"model_name", or_null(card.model_name)},
            {"total_kv_blocks", or_null(card.total_kv_blocks)},
            {"kv_cache_block_size", or_null(card.kv_cache_block_size)},
            {"max_kv_tokens", or_null(wire::max_kv_tokens(card))},
            {"max_num_seqs", or_null(card.max_num_seqs)},
            {"max_num_batched_tokens", or_null(card.max_num_batched_tokens)},
            {"context_length", or_null(wire::context_length(card, std::nullopt))},
            {"is_prefill", card.is_prefill},
            {"data_parallel_start_rank", card.rank_first},
            {"data_parallel_size", card.rank_count},
            {"speculative_nextn", or_null(card.speculative_depth)}};
}

json json_of_scope(const wire::EventScope& scope) {
    json out{{"kind", "namespace"}, {"namespace", scope.name_space}};
    if (scope.component) {
        out["kind"] = "component";
        out["component"] = *scope.component;
    }
    if (scope.endpoint) {
        out["kind"] = "endpoint";
        out["endpoint"] = *scope.endpoint;
    }
    return out;
}

json ids_of(const wire::DiscoveryKey& key) {
    return {{"bucket", to_string(key.bucket)},
            {"instance_id", key.id},
            {"worker_id", wire::worker_id_of(key.id)},
            {"model_suffix", or_null(key.suffix)}};
}

json channel_answer(const wire::ChannelRecord& channel, json got) {
    switch (wire::use_of(channel, wire::fpm_topic)) {
        case wire::ChannelUse::connect:
            got["result"] = "connect";
            got["endpoint"] = channel.transport.endpoint;
            got["zmq_subscribe"] = channel.topic;  // direct mode: the bare topic in both eras
            break;
        case wire::ChannelUse::broker:
            got["result"] = "broker";
            got["xsub"] = channel.transport.xsub_endpoints;
            got["xpub"] = channel.transport.xpub_endpoints;
            got["deduplicate"] = channel.transport.deduplicate();
            break;
        case wire::ChannelUse::not_zmq: got.update(ignored("not_zmq")); break;
        case wire::ChannelUse::other_topic: got.update(ignored("other_topic")); break;
    }
    got["scope"] = json_of_scope(channel.scope);
    got["topic"] = channel.topic;
    return got;
}

// Which record belongs into which bucket.
bool is_of(wire::Bucket bucket, const wire::DiscoveryRecord& record) {
    switch (bucket) {
        case wire::Bucket::instances: return std::holds_alternative<wire::EndpointRecord>(record);
        case wire::Bucket::model_cards: return std::holds_alternative<wire::ModelRecord>(record);
        case wire::Bucket::event_channels: return std::holds_alternative<wire::ChannelRecord>(record);
        case wire::Bucket::event_sources: return false;
    }
    return false;
}

json store_answer(const std::string& key_text, const std::string& value) {
    const auto key = wire::parse_discovery_key(key_text);
    if (!key) return ignored("bad_key");
    const auto record = wire::parse_discovery_record(value);
    if (!record || !is_of(key->bucket, *record)) return ignored("bad_json");
    json got = ids_of(*key);
    got["key_ok"] = wire::agrees(*key, *record);
    if (const auto* channel = std::get_if<wire::ChannelRecord>(&*record)) {
        return channel_answer(*channel, std::move(got));
    }
    got["result"] = "added";
    if (const auto* model = std::get_if<wire::ModelRecord>(&*record)) {
        const auto suffix = key->suffix ? key->suffix : model->model_suffix;
        got["model_suffix"] = or_null(suffix);
        got["base_card"] = !suffix;
        got["worker_info"] = json_of_card(model->card);
    }
    return got;
}

json kubernetes_answer(const std::string& value) {
    const auto records = wire::parse_kube_records(value);
    if (!records) return ignored("bad_json");
    json got{{"result", "ok"}, {"models", json::array()}, {"event_channels", records->event_channels.size()}};
    for (const auto& model : records->model_cards) {
        got["models"].push_back(wire::worker_id_of(model.instance_id));
    }
    got["endpoints"] = records->endpoints.size();
    return got;
}

// A JSON object's members have no order, so neither have the ids read from one.
void sort_models(json& object) {
    if (const auto models = object.find("models"); models != object.end() && models->is_array()) {
        std::sort(models->begin(), models->end());
    }
}

// `watching` is an input that stands among the expected values.
bool is_elsewhere(const json& vector, const std::string& key) {
    const json& expected = vector.at("expect");
    const auto watching = expected.find("watching");
    return watching != expected.end() && !wire::is_under(key, watching->get<std::string>());
}

void compare(const json& vector, json got, Report& report) {
    json expected = vector.at("expect");
    expected.erase("watching");
    sort_models(expected);
    sort_models(got);
    report.compare_members("", expected, got);
}

// The last-card rule on this card and the base card of the same worker: both appear, this one goes.
bool known_after_removal(const std::string& key_text, const wire::DiscoveryKey& key) {
    wire::DiscoveryKey base = key;
    base.suffix.reset();
    wire::WorkerCards cards;
    cards.put(wire::text_of(base, wire::Era::august), {key.id, true, {}});
    cards.put(key_text, {key.id, !key.suffix, {}});
    cards.remove(key_text);
    return cards.card_of(key.id) != nullptr;
}

}  // namespace

void check_kv_pair(const json& vector, Report& report) {
    const auto& key = vector.at("key").get_ref<const std::string&>();
    const auto& value = vector.at("value_utf8").get_ref<const std::string&>();
    if (const auto hex = vector.find("hex"); hex != vector.end() && *hex != hex_of(value)) {
        return report.fail("hex", "not the bytes of value_utf8");
    }
    const json& backend = vector.at("backend");
    if (backend == "kubernetes") return compare(vector, kubernetes_answer(value), report);
    if (backend != "etcd" && backend != "file" && backend != "mem") {
        return report.fail("backend", shown(backend) + " is unknown");
    }
    compare(vector, is_elsewhere(vector, key) ? ignored("other_component") : store_answer(key, value),
            report);
}

void check_kv_delete(const json& vector, Report& report) {
    const auto& text = vector.at("key").get_ref<const std::string&>();
    const auto key = wire::parse_discovery_key(text);
    json got = ignored(is_elsewhere(vector, text) ? "other_component" : "bad_key");
    if (key && got["reason"] == "bad_key") {
        got = ids_of(*key);
        got["result"] = "removed";
        if (key->bucket == wire::Bucket::model_cards) {
            got["worker_still_known_if_base_present"] = known_after_removal(text, *key);
        }
    }
    compare(vector, got, report);
}

void check_file_name(const json& vector, Report& report) {
    const json& input = vector.at("input");
    if (!report.only_members("input", input, {"bucket", "key"})) return;
    const auto key = input.at("key").get<std::string>();
    const std::string file = wire::file_name_of(key);
    if (wire::key_of_file_name(file) != key) report.fail("file", "does not read back as the key");
    report.compare_members("", vector.at("expect"), {{"directory", input.at("bucket")}, {"file", file}});
}

void check_id_mapping(const json& vector, Report& report) {
    const json& input = vector.at("input");
    if (!report.only_members("input", input, {"instance_id_json"})) return;
    const auto id = input.at("instance_id_json").get<std::uint64_t>();
    const std::string hex = wire::hex_of_id(id);
    if (wire::id_from_hex(hex) != id) report.fail("key_hex", "does not read back as the id");
    report.compare_members("", vector.at("expect"),
                           {{"key_hex", hex}, {"fpm_worker_id", wire::worker_id_of(id)}});
}

void check_kube_instance_id(const json& vector, Report& report) {
    const json& input = vector.at("input");
    if (!report.only_members("input", input, {"cr_name"})) return;
    const auto id = wire::kube_instance_id(input.at("cr_name").get<std::string>());
    report.compare_members("", vector.at("expect"), {{"instance_id", id}});
}

}  // namespace dynaplan::check_vectors
