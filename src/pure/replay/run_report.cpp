#include "replay/run_report.hpp"

#include <algorithm>
#include <variant>

namespace dynaplan::replay {

void RunReport::take(const Event& event, const Effects& effects) {
    began(event.at);
    last_ = std::max(last_, event.at);
    if (std::holds_alternative<FpmArrived>(event.body)) {
        ++passes_;
    } else {
        answered(event.body);
    }
    const std::size_t decided_before = decisions_.size();
    for (const Effect& effect : effects) {
        last_ = std::max(last_, effect.at);
        if (const auto* scale = std::get_if<ScaleTo>(&effect.body)) {
            take(effect.at, *scale);
        } else if (const auto* report = std::get_if<DiagnosticsReport>(&effect.body)) {
            take(effect.at, *report, decisions_.size() - decided_before);
        } else if (std::holds_alternative<ConfigRefused>(effect.body)) {
            ++config_refused_;
        }
    }
}

void RunReport::take(TimePoint at, const ScaleTo& scale) {
    DecisionRow row;
    row.at = at;
    row.scale = scale;
    for (const Role role : all_roles) {
        if (!scale.why.role[role]) continue;
        row.ready[role] = scale.why.role[role]->ready;
        row.expected[role] = scale.why.role[role]->expected;
    }
    decisions_.push_back(std::move(row));
}

void RunReport::take(TimePoint at, const DiagnosticsReport& report, std::size_t decided_here) {
    ++ticks_;
    load_ticks_ += report.ran_load ? 1 : 0;
    throughput_ticks_ += report.ran_throughput ? 1 : 0;
    const Diagnostics& d = report.diagnostics;
    if (report.ran_load && d.load_decision_reason)
        ++load_reasons_[static_cast<std::size_t>(*d.load_decision_reason)];
    if (report.ran_throughput && d.throughput_decision_reason)
        ++throughput_reasons_[static_cast<std::size_t>(*d.throughput_decision_reason)];

    // The counts at a decision come with the tick's report, which follows it.
    if (decided_here > 0) {
        for (const Role role : all_roles) {
            if (report.ready[role]) decisions_.back().ready[role] = report.ready[role];
            if (report.expected[role]) decisions_.back().expected[role] = report.expected[role];
        }
    } else if (report.recommended.prefill || report.recommended.decode) {
        DecisionRow row;
        row.at = at;
        row.advised = true;
        row.scale.prefill = report.recommended.prefill;
        row.scale.decode = report.recommended.decode;
        row.scale.reason =
            d.load_decision_reason.value_or(d.throughput_decision_reason.value_or(Reason::scale));
        row.ready = report.ready;
        row.expected = report.expected;
        decisions_.push_back(std::move(row));
    }

    std::vector<std::size_t> open;
    for (const Hold& hold : report.holds) {
        const auto same = std::find_if(open_holds_.begin(), open_holds_.end(), [&](std::size_t i) {
            return holds_[i].role == hold.role && holds_[i].reason == hold.reason;
        });
        if (same == open_holds_.end() && holds_.size() >= holds_kept) {
            ++holds_not_kept_;
            continue;
        }
        const std::size_t i = same == open_holds_.end() ? holds_.size() : *same;
        if (same == open_holds_.end())
            holds_.push_back({hold.role, hold.reason, hold.since, at, hold.deadline, 0});
        holds_[i].last_seen = at;
        holds_[i].deadline = hold.deadline;
        ++holds_[i].ticks;
        open.push_back(i);
    }
    open_holds_ = std::move(open);
    last_report_ = report;
}

// Proposals are answered soon after they are made: the search begins at the end.
DecisionRow* RunReport::find_proposal(ProposalId id) {
    const auto found = std::find_if(decisions_.rbegin(), decisions_.rend(), [id](const DecisionRow& r) {
        return !r.advised && r.scale.proposal == id;
    });
    return found == decisions_.rend() ? nullptr : &*found;
}

DecisionRow* RunReport::find_decision(DecisionId id) {
    const auto found = std::find_if(decisions_.rbegin(), decisions_.rend(),
                                    [id](const DecisionRow& r) { return r.fate.decision_id == id; });
    return found == decisions_.rend() ? nullptr : &*found;
}

void RunReport::answered(const EventBody& body) {
    if (const auto* published = std::get_if<DecisionPublished>(&body)) {
        if (DecisionRow* row = find_proposal(published->proposal))
            row->fate.decision_id = published->decision_id;
    } else if (const auto* refused = std::get_if<DecisionRefused>(&body)) {
        if (DecisionRow* row = find_proposal(refused->proposal)) row->fate.refused = refused->reason;
    } else if (const auto* outcome = std::get_if<DecisionOutcome>(&body)) {
        if (DecisionRow* row = find_decision(outcome->decision_id)) row->outcome = outcome->outcome;
    } else if (!std::holds_alternative<TickDue>(body)) {
        ++other_events_;
    }
}

RunReport::Counts RunReport::decision_reasons() const {
    Counts counts{};
    for (const DecisionRow& row : decisions_) ++counts[static_cast<std::size_t>(row.scale.reason)];
    return counts;
}

}  // namespace dynaplan::replay
