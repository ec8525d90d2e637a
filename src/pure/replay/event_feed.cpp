#include "replay/event_feed.hpp"

#include "replay/time_gate.hpp"

namespace dynaplan::replay {

Result<void> EventFeed::feed(const Event& event) {
    moments_.clear();
    if (std::string problem = time_problem(event.at, session_.now(), started_); !problem.empty())
        return failure(std::move(problem));
    if (!started_) report_.began(event.at);
    started_ = true;
    Result<void> fed;
    if (session_.feed_quietly(event, moments_)) {
        if (moments_.empty()) {
            report_.quiet_pass(event.at);
            if (tape_ != nullptr) tape_->quiet_pass(event);
            return fed;
        }
    } else {
        fed = session_.feed(event, moments_);
    }
    for (const Moment& m : moments_) {
        report_.take(m);
        if (tape_ != nullptr) tape_->take(m);
    }
    return fed;
}

}  // namespace dynaplan::replay
