// Vectors of the kind worker_metadata: a graph and the workers' objects in, what is known of each role out.
// Required is `expect_reference` with the members under `recommended` put over it (connectors specification,
// section 5).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check_vectors/kinds.hpp"
#include "wire/discovery_key.hpp"
#include "wire/endpoint_name.hpp"
#include "wire/graph_pools.hpp"
#include "wire/kube_metadata.hpp"
#include "wire/model_card.hpp"
#include "wire/worker_info.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
    return value ? json(*value) : json(nullptr);
}

json json_of_info(const wire::WorkerInfo& info, wire::Era era) {
    const wire::ModelCard card = info.card.value_or(wire::ModelCard{});
    const bool august = era == wire::Era::august;
    return {{"k8s_name", or_null(info.pool_name)},
            {"component_name", or_null(info.component)},
            {"endpoint", or_null(info.endpoint)},
            {"model_name", or_null(info.model_name)},
            {"total_kv_blocks", or_null(card.total_kv_blocks)},
            {"kv_cache_block_size", or_null(card.kv_cache_block_size)},
            {"max_kv_tokens", or_null(wire::max_kv_tokens(card))},
            {"max_num_seqs", or_null(card.max_num_seqs)},
            {"max_num_batched_tokens", or_null(card.max_num_batched_tokens)},
            {"context_length", or_null(wire::context_length(card, era))},
            {"speculative_nextn", august ? or_null(card.speculative_depth) : json(nullptr)}};
}

// `recommended` over the reference, member by member in each role; a role whose reference is an error is
// replaced whole. `note` is prose.
json required_of(const json& one) {
    json required = one.at("expect_reference");
    const auto recommended = one.find("recommended");
    if (recommended == one.end()) return required;
    for (const auto& [role, members] : recommended->items()) {
        if (role == "note") continue;
        json& target = required[role];
        if (!target.is_object() || target.contains("error") || !members.is_object()) {
            target = members;
        } else {
            target.update(members);
        }
    }
    return required;
}

void check_case(const json& one, Report& report) {
    if (!report.only_members("case", one,
                             {"id", "summary", "note", "era", "backend", "dynamo_namespace", "deployment",
                              "worker_metadata", "expect_reference", "recommended", "reference_differs"})) {
        return;
    }
    const json& era_name = one.at("era");
    if (era_name != "april" && era_name != "august")
        return report.fail("era", shown(era_name) + " is unknown");
    const wire::Era era = era_name == "april" ? wire::Era::april : wire::Era::august;
    const auto graph = wire::parse_worker_graph(one.at("deployment").dump());
    if (!graph) return report.fail("deployment", graph.error().message);
    std::vector<wire::KubeWorker> workers;
    for (const json& object : one.at("worker_metadata")) {
        // An object that cannot be read has no entries, and does not hide the others.
        if (auto worker = wire::parse_kube_worker(object.dump())) workers.push_back(std::move(*worker));
    }
    const auto base = one.at("dynamo_namespace").get<std::string>();
    const std::string name_space = wire::worker_namespace(*graph, base).value_or(base);
    const auto backend = one.at("backend").get<std::string>();
    json got;
    for (const Role role : all_roles) {
        const wire::WorkerInfoQuery query{role, backend, era, name_space};
        got[std::string{to_string(role)}] =
            json_of_info(wire::resolve_worker_info(query, *graph, workers), era);
    }
    report.compare_members("", required_of(one), got);
}

// Which of these keys are workers of the endpoint?
void check_instances(const json& one, Report& report) {
    if (!report.only_members("case", one, {"id", "endpoint", "etcd_keys", "expect", "recommended", "note"}))
        return;
    const auto endpoint = wire::parse_endpoint_name(one.at("endpoint").get<std::string>());
    if (!endpoint) return report.fail("endpoint", endpoint.error().message);
    std::vector<std::uint64_t> ids;
    for (const json& text : one.at("etcd_keys")) {
        const auto key = wire::parse_discovery_key(text.get<std::string>());
        if (key && key->bucket == wire::Bucket::instances && key->scope == endpoint->scope()) {
            ids.push_back(key->id);
        }
    }
    std::sort(ids.begin(), ids.end());
    json required = one.at("expect");
    if (const auto better = one.find("recommended"); better != one.end()) {
        required.update(*better);
        required.erase("note");
    }
    report.compare_members("", required, {{"count", ids.size()}, {"instance_ids", ids}});
}

// Pairs of a card and whether it is a prefill worker's; `recommended.pair_N` replaces the answer of pair N.
void check_cards(const json& one, Report& report) {
    if (!report.only_members("case", one, {"id", "cards", "expect", "recommended", "note"})) return;
    json answers = json::array();
    for (const json& pair : one.at("cards")) answers.push_back(pair.at(1));
    if (const auto better = one.find("recommended"); better != one.end()) {
        for (const auto& [name, value] : better->items()) {
            if (name == "note") continue;
            constexpr std::string_view prefix = "pair_";
            if (!name.starts_with(prefix)) return report.fail("recommended." + name, "unknown member");
            answers.at(std::stoul(name.substr(prefix.size()))) = value;
        }
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto card = wire::parse_model_card(one.at("cards")[i].at(0).dump());
        report.compare("pair_" + std::to_string(i), answers[i],
                       card ? json(card->is_prefill) : json(nullptr));
    }
}

void check_primitive(const json& one, Report& report) {
    if (one.contains("etcd_keys")) return check_instances(one, report);
    if (one.contains("cards")) return check_cards(one, report);
    report.fail("case", "an unknown kind of primitive case");
}

}  // namespace

void check_worker_metadata(const json& file, Report& report) {
    if (!same(file.at("schema_version"), 1)) {
        report.fail_file("schema_version " + shown(file.at("schema_version")) + " is unknown");
        return;
    }
    const auto check_list = [&](const char* list, void (*check)(const json&, Report&)) {
        const auto cases = file.find(list);
        if (cases == file.end()) return;
        for (const json& one : *cases) {
            report.run_case(one.value("id", std::string{"(no id)"}), [&] { check(one, report); });
        }
    };
    check_list("primitive_cases", check_primitive);
    check_list("cases", check_case);
}

}  // namespace dynaplan::check_vectors
