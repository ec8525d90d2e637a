// The core as everyone else uses it: events in, effects out (DESIGN 5.1).
//
// Planner keeps the engines, the inventory, the guard and the schedule, hands each due tick to the Rules, and
// turns the answer into effects. Service, journal, step protocol, simulation and scenarios drive this face
// only.
//
// step() first runs every wake-up due strictly before the event, each at its own time, then takes the event;
// a TickDue event runs what is due at or before it. Events come in time order; one that is late is taken at
// the current time. An FPM costs O(1) amortised and allocates nothing once its engine is known; a tick costs
// O(engines).
//
// One thread. A copy of the state, save() and load(), continues bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/result.hpp"
#include "plan/agenda.hpp"
#include "plan/guard.hpp"
#include "plan/rules.hpp"
#include "plan/tracker.hpp"

namespace dynaplan::plan {

// A traffic reading that came before its tick was due; of use for traffic_wait.
struct EarlyTraffic {
    TimePoint at{};
    Reading<Traffic> traffic;
    template <class Archive>
    void archive(Archive& a) {
        a(at, traffic);
    }
};

// Whether the engines of a role miss their target: one that is known not to, or all that do.
struct Breach {
    std::optional<EngineIndex> witness;  // not in breach when it was last looked at
    bool everywhere = false;
    template <class Archive>
    void archive(Archive& a) {
        a(witness, everywhere);
    }
};

class Planner {
public:
    explicit Planner(const PlannerConfig&);

    [[nodiscard]] Effects step(const Event&);
    // Runs every wake-up that is due at or before `now`, and nothing else: what a timer does.
    [[nodiscard]] Effects wake(TimePoint now);

    // A restored planner goes on at `now`: ticks that fell due while nobody ran it are not made up for, and
    // the set of engines is not complete until it has settled (DESIGN 5.3). Not an event: a checkpoint has to
    // follow it.
    void resume(TimePoint now);

    // When step() has to be called at the latest; never before the first event.
    [[nodiscard]] TimePoint next_wake() const;

    [[nodiscard]] const PlannerConfig& config() const { return rules_.config(); }
    [[nodiscard]] const Rules& rules() const { return rules_; }
    [[nodiscard]] const Tracker& engines() const { return tracker_; }
    // What keeps which role from acting at `now`.
    [[nodiscard]] std::vector<Hold> holds(TimePoint now) const { return guard_.holds(now); }
    // What is taken for the role's counts at `now`: the inventory's, else what reports and what was
    // published.
    [[nodiscard]] Replicas ready_at(Role, TimePoint now) const;
    [[nodiscard]] std::optional<Replicas> expected(Role role) const { return guard_.expected(role); }
    // Measured from a published decision to the replica that is ready; empty while none was seen.
    [[nodiscard]] std::optional<Seconds> startup(Role role) const { return guard_.startup(role); }
    // Reports that entered the models, since the start of the state.
    [[nodiscard]] std::int64_t observed(Role role) const { return observed_[role]; }
    // What the fleet's operator said last.
    [[nodiscard]] const Inventory& inventory(Role role) const { return inventory_[role]; }

    // Benchmark passes and traffic before the first event.
    void bootstrap(Role role, std::span<const ForwardPass> passes) { rules_.bootstrap(role, passes); }
    void warm(std::span<const Traffic> observations) { rules_.warm(observations); }

    // The whole state with the configuration in force, as versioned plain bytes.
    [[nodiscard]] std::string save();
    [[nodiscard]] static Result<Planner> load(std::string_view state);

private:
    void start(TimePoint at);
    void run_due(TimePoint limit, bool inclusive);
    void run(const Agenda::Due&, TimePoint now, const Reading<Traffic>&);
    void announce_wake(TimePoint now);
    void emit(TimePoint at, EffectBody body) { effects_.push_back(Effect{at, std::move(body)}); }

    void take(const EngineJoined&);
    void take(const EngineLeft&);
    void take(const FpmArrived&);
    void take(const InventoryRead&);
    void take(const TrafficObserved&);
    void take(const TickDue&);
    void take(const DecisionOutcome&);
    void take(const DecisionPublished&);
    void take(const DecisionRefused&);
    void take(const DecisionRestored&);
    void take(const ConfigChanged&);
    void take(const BusChanged&);
    void take(const LeaderChanged&);

    void note_breach(Role, const EngineObservation&);
    void forget(Role, EngineIndex);
    void refresh_capabilities();
    [[nodiscard]] Replicas ready(Role role) const { return ready_at(role, now_); }
    [[nodiscard]] WorkerCounts counts();
    void propose(const TickResult&, DiagnosticsReport&);
    void report(const TickResult&, const Agenda::Due&, DiagnosticsReport);
    [[nodiscard]] bool at_zero() const;

    template <class Archive>
    void archive(Archive& a) {
        a(rules_, tracker_, guard_, agenda_, inventory_, early_, started_, now_, announced_, next_proposal_,
          breach_, observed_, repeated_, outliers_, ignored_);
    }

    Rules rules_;
    Tracker tracker_;
    Guard guard_;
    Agenda agenda_;
    PerRole<Inventory> inventory_;
    std::optional<EarlyTraffic> early_;
    bool started_ = false;
    TimePoint now_{};
    TimePoint announced_ = Agenda::never;  // the wake-up that was last asked for
    ProposalId next_proposal_ = 0;
    PerRole<Breach> breach_;
    PerRole<std::int64_t> observed_;
    std::int64_t repeated_ = 0;
    std::int64_t outliers_ = 0;
    std::int64_t ignored_ = 0;  // of a role that the mode does not have
    Effects effects_;
};

}  // namespace dynaplan::plan
