#include "wire/kube_metadata.hpp"

#include <optional>
#include <variant>

#include "wire/discovery_record_json.hpp"
#include "wire/json_at_path.hpp"
#include "wire/json_nearest.hpp"

namespace dynaplan::wire {

namespace {

using nlohmann::json;

template <class Record>
void read_map(const json& data, const char* name, std::vector<Record>& out, std::uint64_t& skipped) {
    const json* map = at_path(data, {name});
    if (map == nullptr) return;
    if (!map->is_object()) {
        ++skipped;
        return;
    }
    for (const json& value : *map) {
        auto record = discovery_record_of(value);
        if (record && std::holds_alternative<Record>(*record)) {
            out.push_back(std::get<Record>(std::move(*record)));
        } else {
            ++skipped;
        }
    }
}

Result<KubeRecords> records_of(const json& data) {
    if (data.is_string()) {
        const json inner = json_of(data.get_ref<const std::string&>());
        if (!inner.is_object()) return failure("spec.data: the text is not a JSON object");
        return records_of(inner);
    }
    if (!data.is_object()) return failure("spec.data: not an object, nor a text that holds one");
    KubeRecords out;
    read_map(data, "endpoints", out.endpoints, out.skipped);
    read_map(data, "model_cards", out.model_cards, out.skipped);
    read_map(data, "event_channels", out.event_channels, out.skipped);
    return out;
}

}  // namespace

Result<KubeRecords> parse_kube_records(std::string_view data) {
    const json value = json_of(data);
    if (value.is_discarded()) return failure("spec.data: not JSON");
    return records_of(value);
}

Result<KubeWorker> parse_kube_worker(std::string_view object) {
    const json value = json_of(object);
    if (!value.is_object()) return failure("DynamoWorkerMetadata: not a JSON object");
    auto name = text_at(value, {"metadata", "name"});
    if (!name) return failure("DynamoWorkerMetadata: metadata.name is missing");
    KubeWorker out{std::move(*name), {}};
    const json* data = at_path(value, {"spec", "data"});
    if (data == nullptr) return out;
    auto records = records_of(*data);
    if (!records)
        return tl::unexpected{
            Error{"DynamoWorkerMetadata " + in_quotes(out.name) + ": " + records.error().message}};
    out.records = std::move(*records);
    return out;
}

}  // namespace dynaplan::wire
