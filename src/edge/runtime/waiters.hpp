// Clients that wait for the next decision. A bounded list: who finds it full is told so at once, and whoever
// has waited for as long as he wanted is answered with nothing. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "core/event.hpp"
#include "core/units.hpp"
#include "decision/record.hpp"

namespace dynaplan::runtime {

class Waiters {
public:
    using Answer = std::function<void(const decision::DecisionRecord*)>;  // none: the time is over
    using Ticket = std::uint64_t;
    // Half of the connections that the HTTP server grants: clients that wait never keep out the one that
    // acknowledges.
    static constexpr std::size_t most = 128;

    // Empty when too many wait already.
    std::optional<Ticket> add(DecisionId after, TimePoint until, Answer answer) {
        if (waiting_.size() >= most) return std::nullopt;
        waiting_.push_back({++last_, after, until, std::move(answer)});
        return last_;
    }
    // The client has gone.
    void drop(Ticket ticket) {
        waiting_.remove_if([ticket](const Waiter& w) { return w.ticket == ticket; });
    }
    // `find(after)`: the oldest decision with a larger id, or none.
    void published(const std::function<const decision::DecisionRecord*(DecisionId)>& find) {
        for (auto w = waiting_.begin(); w != waiting_.end();) {
            if (const decision::DecisionRecord* record = find(w->after)) {
                const Answer answer = std::move(w->answer);
                w = waiting_.erase(w);
                answer(record);
            } else {
                ++w;
            }
        }
    }
    void expire(TimePoint now) {
        for (auto w = waiting_.begin(); w != waiting_.end();) {
            if (w->until <= now) {
                const Answer answer = std::move(w->answer);
                w = waiting_.erase(w);
                answer(nullptr);
            } else {
                ++w;
            }
        }
    }
    [[nodiscard]] std::optional<TimePoint> next_expiry() const {
        std::optional<TimePoint> next;
        for (const Waiter& w : waiting_) next = next ? std::min(*next, w.until) : w.until;
        return next;
    }
    [[nodiscard]] std::size_t size() const { return waiting_.size(); }

private:
    struct Waiter {
        Ticket ticket;
        DecisionId after;
        TimePoint until;
        Answer answer;
    };
    std::list<Waiter> waiting_;
    Ticket last_ = 0;
};

}  // namespace dynaplan::runtime
