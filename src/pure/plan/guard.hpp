// Holds a role back while an earlier change of its count is not through (policy `scaling_guard: always`;
// cases A14, A15).
//
// A change is through when the ready count has reached the target. Until then growth is held; lowering is
// allowed once it has been asked for long enough, since that only takes back what is pending. Every hold has
// a deadline: three times the measured start-up time, at least ten minutes; half an hour while nothing has
// been measured. A decision that nobody has acknowledged yet freezes everything; the coordinator ends that.
// While the set of engines is not complete (after a start, a take-over, the end of a bus outage, or when a
// ready worker does not report) nothing shrinks.
//
// It remembers as well what the last ten minutes said against shrinking (ADR 8): ticks at which the survivors
// would have had no room, and forecasts that needed more.
//
// Under `scaling_guard: reference` there is no restraint, and what is expected is what the inventory says.
#pragma once

#include <optional>
#include <vector>

#include "core/config.hpp"
#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/tick.hpp"
#include "plan/recent_peak.hpp"

namespace dynaplan::plan {

// What the fleet's operator last said of a role, and since when it has not been at rest.
struct Inventory {
    std::optional<Replicas> ready;
    std::optional<Replicas> expected;
    bool rolling = false;
    template <class Archive>
    void archive(Archive& a) {
        a(ready, expected, rolling);
    }
};

// The decision that is not acknowledged yet.
struct OpenDecision {
    std::optional<ProposalId> proposal;
    std::optional<DecisionId> decision;
    TimePoint since{};
    template <class Archive>
    void archive(Archive& a) {
        a(proposal, decision, since);
    }
};

class Guard {
public:
    explicit Guard(const PlannerConfig&);
    void reconfigure(const PlannerConfig&);

    // The set of engines is not complete from now on, for engine_silent.
    void settle(TimePoint now);
    void bus(bool connected, TimePoint now);
    void leader(bool leading, TimePoint now);

    // What the ready count and the inventory say now; call before expected() and restraint() of a tick.
    // `workers_seen` counts distinct workers that have ever reported and did not leave.
    void look(Role, Replicas ready, std::int64_t workers_seen, const Inventory&, TimePoint now);
    [[nodiscard]] std::optional<Replicas> expected(Role) const;
    [[nodiscard]] Restraint restraint(Role, TimePoint now) const;
    [[nodiscard]] std::vector<Hold> holds(TimePoint now) const;

    // What the tick asked for, and what it decided.
    void asked(const TickResult&, bool throughput_tick, bool throughput_scaling, TimePoint now);
    void proposed(ProposalId, const ScalingTarget&, TimePoint now);
    void published(const DecisionPublished&, TimePoint now);
    void refused(const DecisionRefused&, TimePoint now);
    void outcome(const DecisionOutcome&, TimePoint now);
    void restored(const DecisionRestored&, TimePoint now);

    [[nodiscard]] bool leading() const { return leading_; }

    template <class Archive>
    void archive(Archive& a) {
        a(roles_, open_, settled_at_, connected_, leading_, store_down_since_, leader_since_, bus_since_);
    }

    // Measured start-up time of the role.
    [[nodiscard]] std::optional<Seconds> startup(Role role) const { return roles_[role].startup; }

private:
    struct RoleState {
        Replicas ready{};
        std::optional<Replicas> pending;  // our target, until the ready count has reached it
        std::optional<Replicas> before;   // what was pending when the open decision was proposed
        std::optional<Replicas> last_published;
        TimePoint since{};  // of the pending target
        Inventory inventory;
        std::optional<TimePoint> unrest_since;   // inventory: expected is not ready, or rolling
        std::optional<TimePoint> missing_since;  // a ready worker does not report
        std::int64_t workers_seen = 0;
        std::optional<Seconds> startup;  // measured
        bool looked = false;
        std::optional<TimePoint> grown_at;  // the ready count
        std::int64_t lower_windows = 0;
        std::optional<TimePoint> lower_since;
        // When a load tick last saw the survivors of a scale-down without room, and without ample room; or
        // when the ready count changed. Never: nothing speaks against them.
        std::optional<TimePoint> no_room_at;
        std::optional<TimePoint> not_ample_at;
        RecentPeak needed;  // of the forecasts, with their margin
        template <class Archive>
        void archive(Archive& a) {
            a(ready, pending, before, last_published, since, inventory, unrest_since, missing_since,
              workers_seen, startup, looked, grown_at, lower_windows, lower_since, no_room_at, not_ample_at,
              needed);
        }
    };
    [[nodiscard]] Seconds deadline_after(const RoleState&) const;
    [[nodiscard]] bool settling(TimePoint now) const { return now - settled_at_ < engine_silent_; }
    // The ready count is that of the engines heard so far, while more may be there.
    [[nodiscard]] bool ready_unknown(const Inventory& inventory, TimePoint now) const {
        return tolerant_ && (!connected_ || settling(now)) && !inventory.ready;
    }
    static std::optional<Replicas> expected_at_rest(const RoleState&);
    [[nodiscard]] TimePoint may_shrink_at(const RoleState&) const;
    [[nodiscard]] Seconds drain_time(const RoleState&) const;
    void drop_pending();

    Mode mode_;
    bool always_;
    Seconds deadline_;  // 0: from the measured start-up
    Seconds engine_silent_;
    Seconds averages_window_;
    bool tolerant_;
    PerRole<RoleState> roles_;
    std::optional<OpenDecision> open_;
    TimePoint settled_at_{};
    bool connected_ = true;
    bool leading_ = true;
    std::optional<TimePoint> store_down_since_;
    TimePoint leader_since_{};
    TimePoint bus_since_{};
};

}  // namespace dynaplan::plan
