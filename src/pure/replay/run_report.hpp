// What a run decided, why, and what it counted: collected from the core's events and effects as they pass, be
// they from a Session or from a journal. The table, the summary and --effects are made from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/reasons.hpp"
#include "replay/session.hpp"
#include "wire/json_effect.hpp"

namespace dynaplan::replay {

struct DecisionRow {
    TimePoint at{};
    ScaleTo scale;
    PerRole<std::optional<Replicas>> ready;     // at that tick
    PerRole<std::optional<Replicas>> expected;  // what was wanted before it, where that is known
    wire::ProposalFate fate;
    std::optional<OutcomeKind> outcome;
    bool advised = false;  // advisory: what would have been proposed
};

// Whatever kept a role from acting, from its first tick to its last.
struct HoldRow {
    Role role{};
    Reason reason{};
    TimePoint since{};
    TimePoint last_seen{};
    std::optional<TimePoint> deadline;
    std::int64_t ticks = 0;
};

class RunReport {
public:
    static constexpr std::size_t holds_kept = 100'000;

    // FPMs that caused nothing are only counted.
    void quiet_pass(TimePoint at) {
        ++passes_;
        last_ = at;
    }
    void take(const Event&, const Effects&);
    void take(const Moment& m) { take(m.event, m.effects); }
    void began(TimePoint at) {
        if (!first_) first_ = at;
    }

    [[nodiscard]] const std::vector<DecisionRow>& decisions() const { return decisions_; }
    [[nodiscard]] const std::vector<HoldRow>& holds() const { return holds_; }
    [[nodiscard]] std::int64_t holds_not_kept() const { return holds_not_kept_; }
    [[nodiscard]] std::int64_t passes() const { return passes_; }
    [[nodiscard]] std::int64_t other_events() const { return other_events_; }
    [[nodiscard]] std::int64_t ticks() const { return ticks_; }
    [[nodiscard]] std::int64_t load_ticks() const { return load_ticks_; }
    [[nodiscard]] std::int64_t throughput_ticks() const { return throughput_ticks_; }
    [[nodiscard]] std::int64_t config_refused() const { return config_refused_; }
    // How often a tick gave the reason, by Reason.
    using Counts = std::array<std::int64_t, reason_count>;
    [[nodiscard]] const Counts& load_reasons() const { return load_reasons_; }
    [[nodiscard]] const Counts& throughput_reasons() const { return throughput_reasons_; }
    [[nodiscard]] Counts decision_reasons() const;
    // The newest diagnostics: its counters run since the start.
    [[nodiscard]] const std::optional<DiagnosticsReport>& last_diagnostics() const { return last_report_; }
    [[nodiscard]] TimePoint first() const { return first_.value_or(TimePoint{}); }
    [[nodiscard]] TimePoint last() const { return last_; }

private:
    void take(TimePoint, const ScaleTo&);
    void take(TimePoint, const DiagnosticsReport&, std::size_t decided_here);
    void answered(const EventBody&);
    DecisionRow* find_proposal(ProposalId);
    DecisionRow* find_decision(DecisionId);

    std::vector<DecisionRow> decisions_;
    std::vector<HoldRow> holds_;
    std::vector<std::size_t> open_holds_;  // of the last tick, indices into holds_
    std::int64_t holds_not_kept_ = 0;
    std::int64_t passes_ = 0;
    std::int64_t other_events_ = 0;
    std::int64_t ticks_ = 0;
    std::int64_t load_ticks_ = 0;
    std::int64_t throughput_ticks_ = 0;
    std::int64_t config_refused_ = 0;
    Counts load_reasons_{};
    Counts throughput_reasons_{};
    std::optional<DiagnosticsReport> last_report_;
    std::optional<TimePoint> first_;
    TimePoint last_{};
};

}  // namespace dynaplan::replay
