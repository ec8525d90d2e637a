// Which engines there are and what each reported last. Names are interned once; lists keep the order in which
// engines first reported. Finding an engine costs one hash of its worker_id and allocates nothing once it is
// known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/engine.hpp"
#include "core/fpm.hpp"
#include "core/tick.hpp"
#include "plan/key_table.hpp"

namespace dynaplan::plan {

class Tracker {
public:
    // An engine that nobody removed and that said nothing for so long is forgotten: names must not pile up.
    static constexpr Seconds forget_after{3600.0};

    enum class Freshness : std::uint8_t {
        fresh,     // a new message
        repeated,  // the counter_id of the last one
    };
    struct Report {
        EngineObservation* engine = nullptr;  // valid until the next change of the list
        Freshness freshness{};
    };

    void join(Role, const EngineKey&, const Capabilities&);
    // The index of the engine that left, for whoever keeps state under it; empty if it was not known.
    std::optional<EngineIndex> leave(Role, const EngineKey&);
    Report observe(Role, const Fpm&, TimePoint now);
    // Engines that have been silent for forget_after leave; `gone(role, index)` is called for each.
    void forget_silent(TimePoint now, const std::function<void(Role, EngineIndex)>& gone);

    [[nodiscard]] std::span<const EngineObservation> reported(Role role) const {
        return roles_[role].reported;
    }
    [[nodiscard]] EngineKey key_of(Role, std::size_t position) const;
    // Distinct workers that have reported and not been forgotten.
    [[nodiscard]] std::int64_t workers(Role role) const { return roles_[role].workers; }
    // Distinct workers heard within `age`.
    [[nodiscard]] std::int64_t workers_heard(Role, TimePoint now, Seconds age) const;
    // The capabilities of the known engine with the lowest instance id that has any.
    [[nodiscard]] Capabilities lowest_card(Role) const;
    [[nodiscard]] std::size_t known(Role role) const { return roles_[role].table.size(); }

    template <class Archive>
    void archive(Archive& a) {
        for (const Role role : all_roles) archive_role(a, roles_[role]);
        a(worker_names_);
        if constexpr (Archive::reading) {
            workers_.clear();
            for (std::uint32_t i = 0; i < worker_names_.size(); ++i) workers_.emplace(worker_names_[i], i);
        }
    }

private:
    static constexpr std::uint32_t not_reported = UINT32_MAX;
    struct Entry {  // by engine index
        bool known = false;
        EngineKey key;
        WorkerIndex worker{};
        std::uint32_t position = not_reported;  // in `reported`
        Capabilities capabilities;
        template <class Archive>
        void archive(Archive& a) {
            a(known, key, worker, position, capabilities);
        }
    };
    struct RoleEngines {
        KeyTable table;  // of the known entries
        std::vector<Entry> entries;
        std::vector<EngineIndex> free;  // indices that can be used again
        std::vector<EngineObservation> reported;
        std::vector<std::uint32_t> ranks;  // of each worker that reported, by worker index
        std::int64_t workers = 0;          // that have any
        TimePoint forget_from{};           // before that nobody has been silent for long enough
    };
    static std::size_t hash_of(std::string_view worker_id, std::int64_t dp_rank) {
        constexpr std::size_t spread = 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio
        return std::hash<std::string_view>{}(worker_id) ^ (static_cast<std::size_t>(dp_rank) * spread);
    }
    static std::optional<std::uint32_t> find(const RoleEngines& r, std::string_view worker_id,
                                             std::int64_t dp_rank) {
        return r.table.find(hash_of(worker_id, dp_rank), [&](std::uint32_t i) {
            const EngineKey& key = r.entries[i].key;
            return key.dp_rank == dp_rank && key.worker_id == worker_id;
        });
    }
    std::uint32_t index_of(Role, const std::string& worker_id, std::int64_t dp_rank);
    WorkerIndex intern(const std::string&);
    static void count_rank(RoleEngines&, WorkerIndex);

    template <class Archive>
    static void archive_pass(Archive& a, ForwardPass& p) {
        a(p.counter_id, p.wall_time);
        auto& s = p.scheduled;
        a(s.num_prefill_requests, s.sum_prefill_tokens, s.var_prefill_length, s.sum_prefill_kv_tokens,
          s.num_decode_requests, s.sum_decode_kv_tokens, s.var_decode_kv_tokens);
        auto& q = p.queued;
        a(q.num_prefill_requests, q.sum_prefill_tokens, q.var_prefill_length, q.num_decode_requests,
          q.sum_decode_kv_tokens, q.var_decode_kv_tokens);
    }
    template <class Archive>
    void archive_role(Archive& a, RoleEngines& r) {
        a(r.entries, r.free);
        std::uint64_t n = r.reported.size();
        a(n);
        if constexpr (Archive::reading) {
            if (!a.holds(n)) return;
            r.reported.assign(static_cast<std::size_t>(n), EngineObservation{});
        }
        for (EngineObservation& e : r.reported) {
            a(e.engine, e.worker, e.dp_rank, e.heard_at, e.advanced_at, e.capabilities);
            archive_pass(a, e.pass);
        }
        if constexpr (Archive::reading) {
            if (!a.ok() || !restore_table(r)) a.fail();
        }
    }
    // False where entries and reports do not fit each other.
    static bool restore_table(RoleEngines&);

    PerRole<RoleEngines> roles_;
    std::unordered_map<std::string, std::uint32_t> workers_;
    std::vector<std::string> worker_names_;
};

}  // namespace dynaplan::plan
