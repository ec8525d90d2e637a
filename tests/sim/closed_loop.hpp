// Drives a planner and a simulated fleet against each other in virtual time: the fleet's events go to the
// planner, the planner's effects to the fleet. Everything between them that a runtime would do is here in its
// simplest form: wake-ups, traffic questions, decision ids, time-outs. It checks after every step what must
// hold in every run (check()), and keeps what a test asserts on.
// Any type with `step(const Event&)` that gives a list of Effect will do for a planner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/reasons.hpp"
#include "sim/digest.hpp"
#include "sim/fleet.hpp"

namespace dynaplan::sim {

template <class P>
concept Steps = requires(P& planner, const Event& event) {
    planner.step(event).begin();
    planner.step(event).end();
};

struct LoopLimits {
    PerRole<Replicas> minimum{Replicas{1}, Replicas{1}};
    std::optional<Gpus> budget;        // none: unlimited
    Seconds decision_timeout{1800.0};  // then an open decision has timed out (DESIGN 6)
};

struct Decision {
    TimePoint at{};
    DecisionId id{};
    ScaleTo scale_to;
};

template <Steps P>
class ClosedLoop {
public:
    ClosedLoop(P& planner, Fleet& fleet, LoopLimits limits)
        : planner_{planner}, fleet_{fleet}, limits_{limits} {}

    void run_until(TimePoint end) {
        while (!failed_) {
            const auto fleet_at = fleet_.next_time();
            const TimePoint due = std::min(wake_.value_or(end_of_time), timeout_at());
            const TimePoint next = std::min(due, fleet_at.value_or(end_of_time));
            if (next > end || next == end_of_time) break;
            // Events of a time come before the wake-up of that time (step protocol).
            if (fleet_at && *fleet_at == next) {
                batch_.clear();
                fleet_.run_until(next, batch_);
                for (const Event& event : batch_) feed(event);
            } else if (timeout_at() == next) {
                const DecisionId id = open_->id;
                open_.reset();
                feed({next, DecisionOutcome{id, OutcomeKind::timed_out}});
            } else {
                wake_.reset();
                guard_against_standstill(next);
                feed({next, TickDue{}});
            }
        }
    }

    [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
    // What broke a rule of every run, one line each; the first few are kept.
    [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
    [[nodiscard]] std::int64_t ticks() const { return ticks_; }
    [[nodiscard]] std::int64_t refusals() const { return refusals_; }
    [[nodiscard]] std::int64_t timeouts() const { return timeouts_; }
    [[nodiscard]] const std::map<std::string, std::int64_t>& load_reasons() const { return load_reasons_; }
    [[nodiscard]] const std::map<std::string, std::int64_t>& throughput_reasons() const {
        return throughput_reasons_;
    }
    [[nodiscard]] const std::optional<DiagnosticsReport>& last_report() const { return last_report_; }
    // Of all events and effects so far.
    [[nodiscard]] std::uint64_t digest() const { return digest_.value(); }

private:
    struct Open {
        DecisionId id{};
        TimePoint since{};
    };
    static constexpr std::size_t violations_kept = 20;
    static constexpr int wakes_at_one_time_most = 100;

    [[nodiscard]] TimePoint timeout_at() const {
        return open_ ? open_->since + limits_.decision_timeout : end_of_time;
    }

    // A planner that asks for a wake-up at the time that it is would keep time from going on.
    void guard_against_standstill(TimePoint now) {
        wakes_here_ = now == last_wake_ ? wakes_here_ + 1 : 1;
        last_wake_ = now;
        if (wakes_here_ <= wakes_at_one_time_most) return;
        violate(now, "time stands still: a wake-up asks for another at the same time");
        failed_ = true;
    }

    void feed(const Event& event) {
        step(event);
        while (!answers_.empty()) {
            const Event answer = std::move(answers_.front());
            answers_.pop_front();
            step(answer);
        }
    }

    void step(const Event& event) {
        digest_.add(event);
        if (const auto* outcome = std::get_if<DecisionOutcome>(&event.body)) {
            if (open_ && open_->id == outcome->decision_id) open_.reset();
            timeouts_ += outcome->outcome == OutcomeKind::timed_out;
        }
        for (const Effect& effect : planner_.step(event)) {
            digest_.add(effect);
            if (effect.at != event.at) violate(event.at, "an effect has another time than its event");
            std::visit([&](const auto& body) { take(event.at, body); }, effect.body);
        }
    }

    void take(TimePoint now, const ScaleTo& s) {
        check(now, s);
        const PerRole<std::optional<Replicas>> wanted{s.prefill, s.decode};
        const auto changes = [&](Role role) { return wanted[role] && *wanted[role] != fleet_.target(role); };
        if (!changes(Role::prefill) && !changes(Role::decode)) {
            refuse(now, s, Refusal::unchanged);
            return;
        }
        if (open_ && !s.cancels) {
            refuse(now, s, Refusal::conflict);
            return;
        }
        if (open_) answers_.push_back({now, DecisionOutcome{open_->id, OutcomeKind::superseded}});
        const DecisionId id = next_id_++;
        open_ = Open{id, now};
        answers_.push_back({now, DecisionPublished{s.proposal, id}});
        decisions_.push_back({now, id, s});
        fleet_.apply(s, now, id);
    }
    void take(TimePoint now, const TrafficWanted& wanted) { fleet_.ask_traffic(wanted.window, now); }
    void take(TimePoint, const WakeAt& wake) { wake_ = wake.at; }
    void take(TimePoint now, const ConfigRefused& refused) {
        violate(now, "config refused: " + refused.message);
    }
    void take(TimePoint, const DiagnosticsReport& report) {
        ++ticks_;
        const Diagnostics& d = report.diagnostics;
        if (d.load_decision_reason) ++load_reasons_[std::string{to_string(*d.load_decision_reason)}];
        if (d.throughput_decision_reason) {
            ++throughput_reasons_[std::string{to_string(*d.throughput_decision_reason)}];
        }
        last_report_ = report;
    }

    void refuse(TimePoint now, const ScaleTo& s, Refusal reason) {
        ++refusals_;
        answers_.push_back({now, DecisionRefused{s.proposal, reason}});
    }

    // Never below the minimum, never over the budget, nothing without a reason.
    void check(TimePoint now, const ScaleTo& s) {
        const FleetConfig& config = fleet_.config();
        const PerRole<std::optional<Replicas>> wanted{s.prefill, s.decode};
        Gpus gpus{};
        for (const Role role : all_roles) {
            const std::string name{to_string(role)};
            if (!has_role(config.mode, role)) {
                if (wanted[role]) violate(now, name + ": the mode has no such role");
                continue;
            }
            const Replicas n = wanted[role].value_or(fleet_.target(role));
            gpus = gpus + n * Gpus{config.role[role].engine.num_gpu};
            if (!wanted[role]) continue;
            if (n < limits_.minimum[role]) {
                violate(now, name + ": target " + std::to_string(n.count()) + " is below the minimum");
            }
            if (n == fleet_.target(role)) continue;
            const auto& why = s.why.role[role];
            if (!why || (!why->load_reason && !why->throughput_reason && why->clamps.empty())) {
                violate(now, name + ": a change without a reason");
            }
        }
        if (limits_.budget && gpus > *limits_.budget) {
            violate(now, "targets take " + std::to_string(gpus.count()) + " GPUs: over the budget");
        }
        if (s.reason == Reason::no_change || s.reason == Reason::disabled) {
            violate(now, "a decision whose reason is " + std::string{to_string(s.reason)});
        }
    }

    void violate(TimePoint now, const std::string& what) {
        if (violations_.size() < violations_kept) {
            violations_.push_back("t=" + std::to_string(seconds_of(now)) + ": " + what);
        }
    }

    P& planner_;
    Fleet& fleet_;
    LoopLimits limits_;
    std::vector<Event> batch_;
    std::deque<Event> answers_;  // published, refused, superseded: fed after the step that caused them
    std::optional<TimePoint> wake_;
    std::optional<Open> open_;
    DecisionId next_id_ = 0;
    TimePoint last_wake_{};
    int wakes_here_ = 0;
    bool failed_ = false;

    std::vector<Decision> decisions_;
    std::vector<std::string> violations_;
    std::map<std::string, std::int64_t> load_reasons_;
    std::map<std::string, std::int64_t> throughput_reasons_;
    std::optional<DiagnosticsReport> last_report_;
    std::int64_t ticks_ = 0;
    std::int64_t refusals_ = 0;
    std::int64_t timeouts_ = 0;
    Digest digest_;
};

}  // namespace dynaplan::sim
