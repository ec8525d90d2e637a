#include "wire/model_card.hpp"

#include <algorithm>
#include <limits>

#include "wire/json_at_path.hpp"
#include "wire/model_card_json.hpp"

namespace dynaplan::wire {

namespace {

using nlohmann::json;

constexpr std::int64_t prefill_flag = 0x10;  // of model_type, specification 8

std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

bool has_prefill_flag(const json& number) {
    if (!number.is_number_integer()) return false;
    return (number.get<std::int64_t>() & prefill_flag) != 0;
}

// April's question, of model_type: names, or flags as a number or as an object with bits.
bool names_prefill(const json* model_type) {
    if (model_type == nullptr) return false;
    if (model_type->is_string()) {
        return in_lower_case(model_type->get<std::string>()).find("prefill") != std::string::npos;
    }
    if (const json* bits = at_path(*model_type, {"bits"}); bits != nullptr) return has_prefill_flag(*bits);
    return has_prefill_flag(*model_type);
}

void read_role(const json& card, ModelCard& out) {
    const json* worker_type = at_path(card, {"worker_type"});
    if (worker_type == nullptr) {
        out.is_prefill = names_prefill(at_path(card, {"model_type"}));
    } else if (worker_type->is_string()) {
        const std::string type = in_lower_case(worker_type->get<std::string>());
        out.is_prefill = type == "prefill";
        if (type == "encode") out.role.reset();
    }
    if (out.is_prefill) out.role = Role::prefill;
}

}  // namespace

ModelCard model_card_of(const json& card) {
    ModelCard out;
    out.model_name = text_at(card, {"display_name"});
    out.total_kv_blocks = count_at(card, {"runtime_config", "total_kv_blocks"});
    out.kv_cache_block_size = count_at(card, {"kv_cache_block_size"});
    out.max_num_seqs = count_at(card, {"runtime_config", "max_num_seqs"});
    out.max_num_batched_tokens = count_at(card, {"runtime_config", "max_num_batched_tokens"});
    out.context_length_runtime = count_at(card, {"runtime_config", "context_length"});
    out.context_length_architectural = count_at(card, {"architectural_max_context_length"});
    out.context_length_card = count_at(card, {"context_length"});
    read_role(card, out);
    out.rank_first = count_at(card, {"runtime_config", "data_parallel_start_rank"}).value_or(0);
    out.rank_count = count_at(card, {"runtime_config", "data_parallel_size"}).value_or(1);
    if (out.rank_count == 0 || out.rank_count > rank_count_max) out.rank_count = 1;
    if (out.rank_first > std::numeric_limits<std::int64_t>::max() - rank_count_max) out.rank_first = 0;
    const auto depth = count_at(card, {"runtime_config", "runtime_data", "spec_decode", "nextn"});
    if (depth && *depth > 0) out.speculative_depth = depth;
    out.is_adapter = at_path(card, {"lora"}) != nullptr;
    return out;
}

std::optional<ModelCard> parse_model_card(std::string_view text) {
    const json card = json_of(text);
    if (card.is_discarded()) return std::nullopt;
    return model_card_of(card);
}

std::optional<std::int64_t> max_kv_tokens(const ModelCard& card) {
    if (!card.total_kv_blocks || !card.kv_cache_block_size) return std::nullopt;
    std::int64_t tokens = 0;
    if (__builtin_mul_overflow(*card.total_kv_blocks, *card.kv_cache_block_size, &tokens))
        return std::nullopt;
    return tokens;
}

std::optional<std::int64_t> context_length(const ModelCard& card, std::optional<Era> era) {
    if (era == Era::april) return card.context_length_card;
    if (card.context_length_runtime) return card.context_length_runtime;
    if (card.context_length_architectural || era == Era::august) return card.context_length_architectural;
    return card.context_length_card;
}

Capabilities capabilities(const ModelCard& card, std::optional<Era> era) {
    Capabilities out;
    out.max_num_batched_tokens = card.max_num_batched_tokens;
    out.max_num_seqs = card.max_num_seqs;
    out.context_length = context_length(card, era);
    out.max_kv_tokens = max_kv_tokens(card);
    return out;
}

}  // namespace dynaplan::wire
