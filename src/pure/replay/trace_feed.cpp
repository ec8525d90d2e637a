#include "replay/trace_feed.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace dynaplan::replay {

Result<void> TraceFeed::pass_on(const Event& event) {
    Result<void> fed = feed_.feed(event);
    for (const Moment& moment : feed_.moments()) {
        if (std::holds_alternative<TrafficObserved>(moment.event.body)) wanted_ = false;
        for (const Effect& effect : moment.effects) {
            if (std::holds_alternative<TrafficWanted>(effect.body)) wanted_ = true;
            const auto* report = std::get_if<DiagnosticsReport>(&effect.body);
            if (report != nullptr && report->ran_throughput) wanted_ = false;
        }
    }
    return fed;
}

Result<void> TraceFeed::release() {
    Event event = *std::exchange(kept_, std::nullopt);
    event.at = std::max(event.at, session_.now());
    return pass_on(event);
}

Result<void> TraceFeed::feed(const Event& event) {
    Result<void> answered;
    if (kept_ && event.at > kept_->at + kept_for) answered = release();
    if (std::holds_alternative<TrafficObserved>(event.body)) {
        if (kept_) answered = release();
        // A question that is due by now is asked first.
        if (!wanted_) answered = pass_on(Event{event.at, TickDue{}});
        if (!wanted_) {
            kept_ = event;
            return answered;
        }
    }
    Result<void> fed = pass_on(event);
    if (fed && wanted_ && kept_) fed = release();
    return fed ? answered : fed;
}

Result<void> TraceFeed::finish() {
    Result<void> fed = pass_on(Event{session_.now(), TickDue{}});
    if (kept_) fed = release();
    return fed;
}

}  // namespace dynaplan::replay
