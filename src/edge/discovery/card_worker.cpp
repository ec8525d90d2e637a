#include "discovery/card_worker.hpp"

#include <nlohmann/json.hpp>

namespace dynaplan::discovery {

namespace {

using nlohmann::json;

// Both members are looked up only where they stand in an object; null counts as absent.
const json* member(const json* object, const char* name) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto place = object->find(name);
    return place == object->end() || place->is_null() ? nullptr : &*place;
}

bool tells_worker_type(std::string_view value) {
    const json record = json::parse(value, nullptr, false);
    return member(member(&record, "card_json"), "worker_type") != nullptr;
}

void believe(std::optional<std::int64_t>& number, std::int64_t most, int& implausible) {
    if (!number || (*number > 0 && *number <= most)) return;
    number.reset();
    ++implausible;
}

void fill(std::optional<std::int64_t>& number, const std::optional<std::int64_t>& otherwise) {
    if (!number) number = otherwise;
}

}  // namespace

std::optional<Role> role_of_card(const wire::ModelCard& card, std::string_view value, RolesHere here) {
    if (card.role != Role::decode) return card.role;
    const auto place = here.only();
    // The card is read a second time only where the two disagree, which is rare.
    if (place == Role::prefill && tells_worker_type(value)) return Role::decode;
    return place.value_or(Role::decode);
}

tl::expected<CardReading, std::string_view> worker_of(const wire::ModelCard& card,
                                                      const PerRole<Capabilities>& defaults) {
    using Cause = tl::unexpected<std::string_view>;
    if (card.rank_count > ranks_most) return Cause{"too_many_ranks"};
    if (card.rank_first > rank_highest - ranks_most) return Cause{"rank_out_of_range"};
    CardReading out;
    out.worker.role = card.role.value_or(Role::decode);
    out.worker.rank_first = card.rank_first;
    out.worker.rank_count = card.rank_count;
    Capabilities& c = out.worker.capabilities;
    c = wire::capabilities(card, std::nullopt);
    believe(c.max_num_batched_tokens, capability_most, out.implausible);
    believe(c.max_num_seqs, capability_most, out.implausible);
    believe(c.context_length, capability_most, out.implausible);
    believe(c.max_kv_tokens, capability_most, out.implausible);
    const Capabilities& otherwise = defaults[out.worker.role];
    fill(c.max_num_batched_tokens, otherwise.max_num_batched_tokens);
    fill(c.max_num_seqs, otherwise.max_num_seqs);
    fill(c.context_length, otherwise.context_length);
    fill(c.max_kv_tokens, otherwise.max_kv_tokens);
    return out;
}

}  // namespace dynaplan::discovery
