#include "bench/fleet.hpp"

namespace dynaplan::bench {

ReportingFleet::ReportingFleet(std::int64_t engines, std::uint64_t seed) : engines_{engines}, draws_{seed} {}

void ReportingFleet::report(TimePoint at, std::vector<Event>& out) {
    const std::int64_t per_role = engines_ / 2;
    ++counter_;
    for (std::int64_t i = 0; i < engines_; ++i) {
        Event& e = out.emplace_back();
        e.at = at;
        FpmArrived& arrived = e.body.emplace<FpmArrived>();
        arrived.role = i < per_role ? Role::prefill : Role::decode;
        arrived.fpm.worker_id = worker_id(i);
        arrived.fpm.pass =
            pass_of(i < per_role ? model::ModelKind::prefill : model::ModelKind::decode, draws_);
        arrived.fpm.pass.counter_id = counter_;
    }
}

std::vector<Event> ReportingFleet::rounds(std::int64_t rounds, TimePoint from, Seconds step) {
    std::vector<Event> events;
    events.reserve(static_cast<std::size_t>(rounds * engines_));
    for (std::int64_t i = 0; i < rounds; ++i) report(from + static_cast<double>(i) * step, events);
    return events;
}

void settle_in(plan::Planner& planner, ReportingFleet& fleet) {
    constexpr std::int64_t window = 64;
    const Replicas per_role{fleet.engines() / 2};
    for (const Role role : all_roles)
        static_cast<void>(planner.step({at_seconds(0.0), InventoryRead{role, per_role, per_role, false}}));
    std::vector<Event> events;
    for (std::int64_t i = 0; i < window; ++i) {
        events.clear();
        fleet.report(at_seconds(0.05 * static_cast<double>(i)), events);
        for (const Event& e : events) static_cast<void>(planner.step(e));
    }
}

void answer(plan::Planner& planner, const Effects& effects, TimePoint at, Draws& draws) {
    for (const Effect& effect : effects) {
        if (std::holds_alternative<TrafficWanted>(effect.body)) {
            const Effects more =
                planner.step({at, TrafficObserved{Seconds{60.0}, Reading<Traffic>::known(traffic(draws))}});
            answer(planner, more, at, draws);
        } else if (const auto* scale = std::get_if<ScaleTo>(&effect.body)) {
            static_cast<void>(planner.step({at, DecisionPublished{scale->proposal, scale->proposal}}));
            static_cast<void>(
                planner.step({at, DecisionOutcome{scale->proposal, OutcomeKind::acknowledged}}));
        }
    }
}

}  // namespace dynaplan::bench
