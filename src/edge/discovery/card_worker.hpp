// From what a model card claims to the worker that the core is told of. A card is a claim by a process that
// may be broken: its numbers are taken only where an engine could have them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tl/expected.hpp>

#include "core/capabilities.hpp"
#include "core/role.hpp"
#include "discovery/scope.hpp"
#include "discovery/worker_table.hpp"
#include "wire/model_card.hpp"

namespace dynaplan::discovery {

// Data-parallel ranks of one process. The widest known expert-parallel deployments span a few hundred GPUs.
inline constexpr std::int64_t ranks_most = 1024;
// The highest rank that is believed, for workers that hold a later part of such a deployment.
inline constexpr std::int64_t rank_highest = 65'535;
// Tokens or sequences of one engine beyond this are no measure of any machine; the configuration's bound.
inline constexpr std::int64_t capability_most = 1'000'000'000'000;

struct CardReading {
    Worker worker;
    int implausible = 0;  // numbers that were taken as unknown
};

// `value`: the record's text. `here`: the roles of the place where it is registered. The card's worker_type
// tells the role, or its model_type where that names prefill, else the place; where that has both roles, a
// card that does not name prefill is one of decode. Nothing for a worker that is not scaled, an encoder.
std::optional<Role> role_of_card(const wire::ModelCard& card, std::string_view value, RolesHere here);

// Of a card whose role is set as above. `defaults` fill what the card does not say, but for the number of
// GPUs, which no card knows and the core has from the configuration.
// The cause where the worker is not used: `too_many_ranks`, `rank_out_of_range`.
tl::expected<CardReading, std::string_view> worker_of(const wire::ModelCard& card,
                                                      const PerRole<Capabilities>& defaults);

}  // namespace dynaplan::discovery
