// The result of a replay for people: decisions, holds, summary.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <tuple>

#include "app/command_replay_job.hpp"
#include "wire/json_effect.hpp"

namespace dynaplan::app {

namespace {

using replay::DecisionRow;
using replay::RunReport;

// The journal of a live planner counts from the Unix epoch, a recording from its start: no recording lasts
// for the thirty years that lie between.
constexpr double live_from_s = 1e9;

// Hours, minutes, seconds since the start, or of the day (UTC) in the journal of a live planner; what lies
// before the start has a sign.
std::string clock_text(TimePoint t) {
    constexpr double day = 86'400.0;
    const double s = seconds_of(t) >= live_from_s ? std::fmod(seconds_of(t), day) : seconds_of(t);
    const double magnitude = std::abs(s);
    const auto whole = static_cast<std::int64_t>(magnitude);
    const double rest = magnitude - static_cast<double>(whole);
    constexpr std::int64_t hour = 3600;
    constexpr std::int64_t minute = 60;
    return fmt::format("{}{:02}:{:02}:{:04.1f}", s < 0 ? "-" : "", whole / hour, whole / minute % minute,
                       static_cast<double>(whole % minute) + std::floor(rest * 10.0) / 10.0);
}

std::string date_text(std::int64_t unix_ms) {
    const std::time_t seconds = static_cast<std::time_t>(unix_ms / 1000);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) == nullptr) return std::to_string(unix_ms) + " ms";
    char text[64];
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
    return text;
}

// From what was wanted before, or else from what is ready, to what is wanted now.
std::optional<Replicas> before(const DecisionRow& row, Role role) {
    return row.expected[role] ? row.expected[role] : row.ready[role];
}

std::string change_text(const DecisionRow& row, Role role) {
    const std::optional<Replicas> from = before(row, role);
    const auto& target = role == Role::prefill ? row.scale.prefill : row.scale.decode;
    if (!target) return from ? std::to_string(from->count()) : "-";
    if (from == target) return std::to_string(from->count());
    return (from ? std::to_string(from->count()) : "?") + " -> " + std::to_string(target->count());
}

// The estimate that decided and what it was compared with, of each role that changes.
std::string estimate_text(const DecisionRow& row) {
    std::string text;
    for (const Role role : all_roles) {
        const auto& target = role == Role::prefill ? row.scale.prefill : row.scale.decode;
        const auto& why = row.scale.why.role[role];
        if (!target || !why || target == before(row, role)) continue;
        if (!text.empty()) text += "; ";
        text += fmt::format("{}:", to_string(role));
        if (why->estimate_max && why->target) {
            text += fmt::format(" {} {:.1f} {} {:.4g} ms", role == Role::prefill ? "TTFT" : "ITL",
                                why->estimate_max->count(),
                                *why->estimate_max > *why->target ? ">" : "<=", why->target->count());
        }
        if (why->demand_rps && why->engine_rps)
            text += fmt::format(" {:.3g} req/s at {:.3g} each", *why->demand_rps, *why->engine_rps);
        for (const ClampStage stage : why->clamps) text += fmt::format(" [{}]", to_string(stage));
        if (text.ends_with(':'))
            text += " " + std::string{to_string(why->load_reason.value_or(row.scale.reason))};
    }
    return text;
}

std::string fate_text(const DecisionRow& row) {
    if (row.advised) return "advised";
    if (row.fate.refused) return "refused: " + std::string{to_string(*row.fate.refused)};
    if (!row.fate.decision_id) return fmt::format("proposal {}", row.scale.proposal);
    std::string text = fmt::format("#{}", *row.fate.decision_id);
    if (row.outcome) text += " " + std::string{to_string(*row.outcome)};
    return text;
}

// Proposals that repeat and are refused alike are one line of the table.
bool repeats(const DecisionRow& a, const DecisionRow& b) {
    return a.fate.refused && a.fate.refused == b.fate.refused && a.scale.prefill == b.scale.prefill &&
           a.scale.decode == b.scale.decode && a.scale.reason == b.scale.reason;
}

void append_decisions(std::string& out, const RunReport& report) {
    const auto& rows = report.decisions();
    if (rows.empty()) {
        out += "no decisions\n";
        return;
    }
    out += fmt::format("{:>11}  {:>9}  {:>9}  {:<22} {:<24} {}\n", "time", "prefill", "decode", "reason",
                       "decision", "because");
    for (std::size_t i = 0; i < rows.size();) {
        std::size_t end = i + 1;
        while (end < rows.size() && repeats(rows[i], rows[end])) ++end;
        const DecisionRow& row = rows[i];
        std::string fate = fate_text(row);
        if (end - i > 1) fate += fmt::format(" (x{})", end - i);
        out += fmt::format("{:>11}  {:>9}  {:>9}  {:<22} {:<24} {}\n", clock_text(row.at),
                           change_text(row, Role::prefill), change_text(row, Role::decode),
                           to_string(row.scale.reason), fate, estimate_text(row));
        i = end;
    }
}

void append_holds(std::string& out, const RunReport& report) {
    struct Sum {
        std::int64_t spans = 0;
        std::int64_t ticks = 0;
        TimePoint first{};
        TimePoint last{};
    };
    std::map<std::pair<Role, Reason>, Sum> sums;
    for (const replay::HoldRow& hold : report.holds()) {
        Sum& s = sums[{hold.role, hold.reason}];
        if (s.spans++ == 0) s.first = hold.since;
        s.last = hold.last_seen;
        s.ticks += hold.ticks;
    }
    if (sums.empty()) return;
    out += "\nholds\n";
    for (const auto& [key, s] : sums) {
        out += fmt::format("  {:<8} {:<22} {} times, {} ticks, {} to {}\n", to_string(key.first),
                           to_string(key.second), s.spans, s.ticks, clock_text(s.first), clock_text(s.last));
    }
}

std::string counts_text(const RunReport::Counts& counts) {
    std::string text;
    for (int i = 0; i < reason_count; ++i) {
        const auto n = counts[static_cast<std::size_t>(i)];
        if (n > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(static_cast<Reason>(i)), n);
    }
    return text.empty() ? "none" : text;
}

void append_refusals(std::string& out, const replay::Refusals& refusals) {
    if (refusals.total() == 0) return;
    out += fmt::format("  not used    {}\n", refusals.total());
    for (const auto& [name, cause] : refusals.causes()) {
        out += fmt::format("    {:>8}  {}\n", cause.count, name);
        for (const replay::RefusedPlace& p : cause.places) {
            if (p.file.empty()) {
                out += fmt::format("              {}\n", p.message);
            } else {
                out += fmt::format("              {}:{}: {}\n", p.file, p.line, p.message);
            }
        }
    }
}

void append_summary(std::string& out, const ReplayJob& job) {
    const RunReport& r = job.report;
    out += "\nsummary\n";
    std::string what = job.kind;
    if (job.mode) what += fmt::format(", mode {}", to_string(*job.mode));
    if (job.preset) what += ", preset " + *job.preset;
    out += fmt::format("  input       {}\n", what);
    for (const std::string& note : job.notes) out += fmt::format("  inferred    {}\n", note);
    out += fmt::format("  span        {} to {}", clock_text(r.first()), clock_text(r.last()));
    constexpr double ms_per_second = 1000.0;
    if (seconds_of(r.first()) >= live_from_s) {
        out += ", UTC; the run begins at " +
               date_text(static_cast<std::int64_t>(seconds_of(r.first()) * ms_per_second));
    }
    if (job.origin_unix_ms) out += fmt::format(", time 0 is {}", date_text(*job.origin_unix_ms));
    out += fmt::format("\n  ticks       {} ({} load, {} throughput)\n", r.ticks(), r.load_ticks(),
                       r.throughput_ticks());
    const auto& rows = r.decisions();
    const auto published =
        std::count_if(rows.begin(), rows.end(), [](const DecisionRow& d) { return d.fate.decision_id; });
    out += fmt::format("  decisions   {} proposed, {} published: {}\n", rows.size(), published,
                       counts_text(r.decision_reasons()));
    out += fmt::format("  load        {}\n", counts_text(r.load_reasons()));
    if (r.throughput_ticks() > 0)
        out += fmt::format("  throughput  {}\n", counts_text(r.throughput_reasons()));
    out += fmt::format("  FPMs        {} taken", r.passes());
    if (r.last_diagnostics()) {
        const DiagnosticsReport& d = *r.last_diagnostics();
        out += fmt::format(", {} repeated, {} outliers set aside", d.fpm_repeated, d.fpm_outliers);
    }
    if (job.late > 0) out += fmt::format(", {} more than 2 s late", job.late);
    out += "\n";
    if (job.engines.prefill + job.engines.decode > 0)
        out += fmt::format("  engines     {} prefill, {} decode\n", job.engines.prefill, job.engines.decode);
    append_refusals(out, job.refusals);
    if (job.effects_verified) {
        out += fmt::format("  verified    {} effects{}\n", *job.effects_verified,
                           job.differences.empty() ? ", all the same" : " before the first difference");
    }
    if (job.expectations)
        out += fmt::format("  expected    {} expectations, {} missed\n", *job.expectations,
                           job.differences.size());
    const double total = job.read_time.count() + job.run_time.count();
    const double speed =
        job.run_time.count() > 0 ? static_cast<double>(r.passes()) / job.run_time.count() : 0.0;
    out += fmt::format("  took        {:.3f} s ({:.3f} s reading), {:.0f} FPM/s replayed\n", total,
                       job.read_time.count(), speed);
    if (job.stopped) out += "  interrupted: the rest was not replayed\n";
}

void append_block(std::string& out, std::string_view label, std::string_view text) {
    bool first = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += fmt::format("  {:<9} {}\n", first ? label : "", text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        first = false;
    }
}

}  // namespace

std::string render_text(const ReplayJob& job) {
    std::string out;
    append_decisions(out, job.report);
    append_holds(out, job.report);
    append_summary(out, job);
    for (const Difference& d : job.differences) {
        out += fmt::format("\n{}\n", d.where);
        append_block(out, job.expectations ? "why" : "event", d.event);
        append_block(out, job.expectations ? "expected" : "recorded",
                     d.recorded.empty() ? "(nothing)" : d.recorded);
        append_block(out, job.expectations ? "got" : "replayed",
                     d.replayed.empty() ? "(nothing)" : d.replayed);
    }
    return out;
}

std::string render_effects(const ReplayJob& job) {
    std::string out;
    for (const DecisionRow& row : job.report.decisions()) {
        if (row.advised) continue;
        wire::append_effect_json(out, Effect{row.at, row.scale}, row.fate);
        out += '\n';
    }
    return out;
}

}  // namespace dynaplan::app
