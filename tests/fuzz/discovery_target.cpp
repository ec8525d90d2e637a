#include <simdjson.h>

#include <limits>
#include <optional>
#include <variant>

#include "fuzz/one_line.hpp"
#include "fuzz/targets.hpp"
#include "wire/broker_url.hpp"
#include "wire/discovery_key.hpp"
#include "wire/discovery_record.hpp"
#include "wire/endpoint_name.hpp"
#include "wire/graph_pools.hpp"
#include "wire/kube_metadata.hpp"
#include "wire/nats_subject.hpp"
#include "wire/worker_cards.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

std::string try_key(std::string_view text) {
    const auto key = parse_discovery_key(text);
    if (key) {
        if (!is_under(text, to_string(key->bucket))) return "a key outside its bucket";
        if (parse_discovery_key(text_of(*key, Era::august)) != key) return "writing changed the key";
    }
    if (!text.empty() && key_of_file_name(file_name_of(text)) != text)
        return "the file's name is another key";
    if (const auto named = key_of_file_name(text); named && file_name_of(*named) != text) {
        return "a file name that the store does not write";
    }
    return "";
}

// The last of repeated members, as the record's reader has it; nothing where the other parser refuses.
std::optional<std::uint64_t> id_by_other_parser(std::string_view value) {
    simdjson::dom::parser parser;
    const simdjson::padded_string padded{value};
    simdjson::dom::object object;
    if (parser.parse(padded).get(object) != simdjson::SUCCESS) return std::nullopt;
    std::optional<std::uint64_t> id;
    for (const auto [name, member] : object) {
        if (name != "instance_id") continue;
        std::uint64_t number = 0;
        id.reset();
        if (member.get(number) == simdjson::SUCCESS) id = number;
    }
    return id;
}

std::string card_problem(const ModelCard& card) {
    const auto sound = [](const std::optional<std::int64_t>& count) { return !count || *count >= 0; };
    if (!sound(card.total_kv_blocks) || !sound(card.kv_cache_block_size) || !sound(card.max_num_seqs) ||
        !sound(card.max_num_batched_tokens) || !sound(max_kv_tokens(card)) ||
        !sound(context_length(card, std::nullopt))) {
        return "a count below zero";
    }
    if (card.rank_count < 1 || card.rank_count > rank_count_max)
        return "a number of ranks that is not believed";
    if (card.rank_first < 0 || card.rank_first > std::numeric_limits<std::int64_t>::max() - card.rank_count) {
        return "a last rank beyond 2^63";
    }
    if (card.is_prefill != (card.role == Role::prefill)) return "a prefill card of another role";
    return "";
}

std::string try_record(std::string_view key_text, std::string_view value) {
    const auto record = parse_discovery_record(value);
    if (!record) return "";
    const auto id = std::visit([](const auto& one) { return one.instance_id; }, *record);
    if (const auto other = id_by_other_parser(value); other && *other != id) return "another id";
    const auto key = parse_discovery_key(key_text);
    if (key && agrees(*key, *record) && key->id != id) return "agreement on two ids";
    if (const auto* channel = std::get_if<ChannelRecord>(&*record)) {
        if (channel->scope.endpoint && !channel->scope.component) return "an endpoint without a component";
        const bool same = channel->topic == "forward-pass-metrics";
        if (use_of(*channel, "forward-pass-metrics") == ChannelUse::connect && !same) return "another topic";
    }
    const auto* model = std::get_if<ModelRecord>(&*record);
    if (model == nullptr) return "";
    WorkerCards cards;
    cards.put(key_text, {id, !model->model_suffix, model->card});
    if (!cards.put(key_text, {id, !model->model_suffix, model->card}).empty()) return "a repeat is a change";
    if (cards.card_of(id) == nullptr || cards.remove(key_text).size() != 1 || cards.card_count() != 0) {
        return "a worker that does not come and go with its card";
    }
    return card_problem(model->card);
}

template <class T>
std::string message_problem(const Result<T>& result) {
    return result ? "" : one_line_problem(result.error().message);
}

std::string broker_problem(std::string_view text) {
    const auto url = parse_broker_url(text);
    if (!url) return one_line_problem(url.error().message);
    if (url->xsub.empty() || url->xpub.empty()) return "a broker without an address";
    std::string written = "xpub=";
    for (const std::string& address : url->xpub) written.append(address).append(" ; ");
    written += ", xsub=";
    for (const std::string& address : url->xsub) written.append(address).append(";");
    const auto again = parse_broker_url(written);
    return again && *again == *url ? "" : "the broker's addresses change: " + written;
}

std::string names_problem(std::string_view text) {
    const EventScope scope{std::string{text}, std::string{text}, std::string{text}};
    for (const Era era : {Era::april, Era::august}) {
        const auto built = subject(era, scope, text);
        if (!built) {
            if (std::string problem = one_line_problem(built.error().message); !problem.empty())
                return problem;
            continue;
        }
        for (const char c : *built) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte <= 0x20 || byte == 0x7f || c == '*' || c == '>')
                return "a subject that means more than one";
        }
        if (built->find("..") != std::string::npos || built->ends_with('.'))
            return "an empty part in a subject";
        if (era == Era::august && !routing_key_fits(*built, text)) return "a routing key that does not fit";
    }
    return "";
}

std::string try_kubernetes(std::string_view value) {
    const auto records = parse_kube_records(value);
    if (std::string problem = message_problem(records); !problem.empty()) return problem;
    if (records) {
        for (const ModelRecord& model : records->model_cards) {
            if (std::string problem = card_problem(model.card); !problem.empty()) return problem;
        }
    }
    if (std::string problem = message_problem(parse_kube_worker(value)); !problem.empty()) return problem;
    const auto graph = parse_worker_graph(value);
    if (!graph) return one_line_problem(graph.error().message);
    for (const Role role : all_roles) {
        const GraphPool* pool = find_pool(*graph, role, "main");
        if (pool == nullptr) continue;
        if (pool < graph->pools.data() || pool >= graph->pools.data() + graph->pools.size()) {
            return "a pool that is not the graph's";
        }
    }
    const auto name_space = worker_namespace(*graph, "base");
    return !name_space && !graph->worker_hash ? "no namespace and no generation to wait for" : "";
}

}  // namespace

std::string try_discovery(std::string_view bytes) {
    const std::string_view key = bytes.substr(0, bytes.find('\n'));
    const std::string_view value =
        key.size() < bytes.size() ? bytes.substr(key.size() + 1) : std::string_view{};
    for (const std::string& problem :
         {try_key(key), try_record(key, value), try_kubernetes(value), broker_problem(key),
          names_problem(key), message_problem(parse_endpoint_name(key))}) {
        if (!problem.empty()) return problem;
    }
    return "";
}

}  // namespace dynaplan::fuzz
