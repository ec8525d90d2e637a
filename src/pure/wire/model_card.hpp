// What a planner needs out of a model card (event-plane specification 8), of both eras. Everything may be
// absent, null or of another type; then it is unknown, never zero. A card is what a worker says of itself: it
// is read, not believed further than that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/capabilities.hpp"
#include "core/role.hpp"
#include "wire/era.hpp"

namespace dynaplan::wire {

struct ModelCard {
    std::optional<std::string> model_name;
    std::optional<std::int64_t> total_kv_blocks;
    std::optional<std::int64_t> kv_cache_block_size;  // tokens
    std::optional<std::int64_t> max_num_seqs;
    std::optional<std::int64_t> max_num_batched_tokens;
    // The three places of the context length, in tokens; see context_length.
    std::optional<std::int64_t> context_length_runtime;        // runtime_config.context_length
    std::optional<std::int64_t> context_length_architectural;  // architectural_max_context_length
    std::optional<std::int64_t> context_length_card;           // context_length
    // Of worker_type, or of model_type where that is missing. `is_prefill` is the reference's whole question;
    // the role is empty for workers that are not scaled, encoders.
    bool is_prefill = false;
    std::optional<Role> role = Role::decode;
    // The worker's data-parallel ranks: rank_first .. rank_first + rank_count - 1.
    std::int64_t rank_first = 0;
    std::int64_t rank_count = 1;
    std::optional<std::int64_t> speculative_depth;  // August; above 0
    bool is_adapter = false;                        // the card of a LoRA adapter
    bool operator==(const ModelCard&) const = default;
};

// A claim of more ranks than this, or of none, is not believed and counts as one: an engine is expected for
// each of them. The largest deployments known have a few hundred.
inline constexpr std::int64_t rank_count_max = 65'536;

// From the text of `card_json`. Nothing when it is not JSON; a card that is not an object says nothing.
std::optional<ModelCard> parse_model_card(std::string_view json);

// Total blocks times block size, when both are known and the product is below 2^63.
std::optional<std::int64_t> max_kv_tokens(const ModelCard& card);

// April reads the card's own value, August the runtime's or else the architecture's. Of an unknown era: the
// runtime's, the architecture's, the card's.
std::optional<std::int64_t> context_length(const ModelCard& card, std::optional<Era> era);

// Without the number of GPUs, which no card knows.
Capabilities capabilities(const ModelCard& card, std::optional<Era> era);

}  // namespace dynaplan::wire
