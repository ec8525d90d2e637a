#include "replay/trace_roles.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace dynaplan::replay {

namespace {

// Components that Dynamo's backends register under (event-plane specification).
constexpr std::array<std::pair<std::string_view, Role>, 3> backends{{
    {"prefill", Role::prefill},
    {"backend", Role::decode},
    {"tensorrt_llm", Role::decode},
}};

constexpr std::int64_t batched_tokens_step = 1024;

}  // namespace

std::optional<Role> RoleTable::role_of(std::string_view component) const {
    if (const auto found = given_.find(component); found != given_.end()) return found->second;
    for (const auto& [name, role] : backends) {
        if (name == component) return role;
    }
    if (mode_ && *mode_ == Mode::prefill) return Role::prefill;
    if (mode_ && *mode_ != Mode::disagg) return Role::decode;
    return std::nullopt;
}

TraceFacts facts_of(const Recording& recording, const RoleTable& table) {
    TraceFacts facts;
    std::vector<std::optional<Role>> roles;
    std::set<std::string> unknown;
    for (const RecordedEngine& engine : recording.engines()) {
        const std::optional<Role> role = table.role_of(engine.component);
        roles.push_back(role);
        if (role) {
            ++facts.role[*role].engines;
        } else {
            unknown.insert(engine.component);
        }
    }
    for (const RecordedPass& p : recording.passes()) {
        if (!roles[p.engine]) continue;
        TraceFacts::OfRole& f = facts.role[*roles[p.engine]];
        const ScheduledRequests& s = p.pass.scheduled;
        ++f.passes;
        if (s.sum_prefill_tokens > 0) ++f.passes_with_prefill;
        f.prefill_tokens_max = std::max(f.prefill_tokens_max, s.sum_prefill_tokens);
        // Each is at most 2^63-1; half of both together is compared without overflow.
        const std::int64_t room = INT64_MAX - s.sum_decode_kv_tokens;
        f.kv_tokens_max =
            std::max(f.kv_tokens_max, s.sum_decode_kv_tokens + std::min(room, s.sum_prefill_kv_tokens));
    }
    facts.unknown_components.assign(unknown.begin(), unknown.end());
    return facts;
}

Mode mode_of(const TraceFacts& facts) {
    const TraceFacts::OfRole& decode = facts.role.decode;
    if (facts.role.prefill.engines > 0) return decode.engines > 0 ? Mode::disagg : Mode::prefill;
    constexpr std::int64_t hundred = 100;
    return decode.passes_with_prefill > decode.passes / hundred ? Mode::agg : Mode::decode;
}

Capabilities capabilities_of(const TraceFacts::OfRole& facts) {
    Capabilities c;
    c.num_gpu = Gpus{1};
    if (facts.prefill_tokens_max > 0) {
        const std::int64_t most = INT64_MAX / batched_tokens_step - 1;
        const std::int64_t steps = std::min(most, (facts.prefill_tokens_max - 1) / batched_tokens_step + 1);
        c.max_num_batched_tokens = steps * batched_tokens_step;
    }
    if (facts.kv_tokens_max > 0) c.max_kv_tokens = facts.kv_tokens_max;
    return c;
}

std::vector<std::string> complete(PlannerConfig& config, const TraceFacts& facts) {
    std::vector<std::string> said;
    for (const Role role : all_roles) {
        if (!has_role(config.mode, role)) continue;
        const Capabilities seen = capabilities_of(facts.role[role]);
        Capabilities& c = config.capabilities[role];
        std::string put_in;
        const auto fill = [&](auto& field, const auto& value, const std::string& text) {
            if (field || !value) return;
            field = value;
            put_in += (put_in.empty() ? "" : ", ") + text;
        };
        if (seen.max_num_batched_tokens) {
            fill(c.max_num_batched_tokens, seen.max_num_batched_tokens,
                 "max_num_batched_tokens " + std::to_string(*seen.max_num_batched_tokens));
        }
        if (seen.max_kv_tokens) {
            fill(c.max_kv_tokens, seen.max_kv_tokens, "max_kv_tokens " + std::to_string(*seen.max_kv_tokens));
        }
        std::optional<std::int64_t>& gpus =
            role == Role::prefill ? config.prefill_engine_num_gpu : config.decode_engine_num_gpu;
        fill(gpus, std::optional<std::int64_t>{1}, "1 GPU");
        if (!put_in.empty()) said.push_back(std::string{to_string(role)} + ": " + put_in);
    }
    return said;
}

}  // namespace dynaplan::replay
