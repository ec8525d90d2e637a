// What an engine can hold, from its model card or from the configuration. Unknown values stay empty.
#pragma once

#include <cstdint>
#include <optional>

#include "core/units.hpp"

namespace dynaplan {

struct Capabilities {
    std::optional<Gpus> num_gpu;                         // per replica
    std::optional<std::int64_t> max_num_batched_tokens;  // per forward pass
    std::optional<std::int64_t> max_num_seqs;
    std::optional<std::int64_t> context_length;  // tokens
    std::optional<std::int64_t> max_kv_tokens;   // total_kv_blocks x kv_cache_block_size
    bool operator==(const Capabilities&) const = default;
    template <class Archive>
    void archive(Archive& a) {
        a(num_gpu, max_num_batched_tokens, max_num_seqs, context_length, max_kv_tokens);
    }
};

}  // namespace dynaplan
