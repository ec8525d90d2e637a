// The core with a coordinator on a memory store, in virtual time: what `step`, `replay`, scenarios and closed
// loops drive.
//
// feed() takes one event. Before it, every wake-up of planner and coordinator due strictly before the event
// runs, each at its own time; then the event is taken, and what the core proposes goes to the coordinator at
// once, whose answers the core hears before anything else happens. Everything that the core saw and said
// comes out in order, as Moments: that is the journal, and the output of the step protocol.
//
// Outcome events are the scheduler's word: they go to the coordinator first, which knows the decision or
// refuses it. With `assume: acknowledged` each published decision is acknowledged on the spot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/result.hpp"
#include "decision/coordinator.hpp"
#include "decision/memory_store.hpp"
#include "plan/planner.hpp"
#include "wire/json_effect.hpp"

namespace dynaplan::replay {

enum class Assume : std::uint8_t {
    nothing,       // outcomes come as events
    acknowledged,  // each decision, as soon as it is published
};

// One event as the core was fed it, with the effects that it returned. The fate of a scale_to is the
// coordinator's.
struct Moment {
    Event event;
    Effects effects;
    std::vector<wire::ProposalFate> fates;  // one per effect
};

class Session {
public:
    explicit Session(const PlannerConfig&, Assume = Assume::nothing, decision::CoordinatorConfig = {});
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Appends to `out`. An error (a decision that was never published, say) leaves the core as it was.
    Result<void> feed(const Event&, std::vector<Moment>& out);
    // Wake-ups due at or before `until`.
    void advance(TimePoint until, std::vector<Moment>& out);
    // The fast way for an FPM that causes nothing: true when it was taken and returned no effect and no
    // wake-up was due before it, so that there is no Moment to hand out.
    bool feed_quietly(const Event&, std::vector<Moment>& out);

    [[nodiscard]] TimePoint next_wake() const;
    [[nodiscard]] TimePoint now() const { return now_; }
    [[nodiscard]] plan::Planner& planner() { return planner_; }
    [[nodiscard]] const decision::Coordinator& coordinator() const { return coordinator_; }

    // State for a checkpoint, and back.
    [[nodiscard]] std::string save_planner() { return planner_.save(); }
    [[nodiscard]] std::string save_coordinator();

private:
    void run_before(TimePoint, bool inclusive, std::vector<Moment>& out);
    void to_core(const Event&, std::vector<Moment>& out);
    void from_coordinator(decision::Events, std::vector<Moment>& out);
    void restore(const DecisionRestored&, std::vector<Moment>& out);
    [[nodiscard]] std::int64_t wall_ms() const;

    plan::Planner planner_;
    decision::MemoryStore store_;
    decision::Coordinator coordinator_;
    Assume assume_;
    TimePoint now_{};
    bool started_ = false;
};

}  // namespace dynaplan::replay
