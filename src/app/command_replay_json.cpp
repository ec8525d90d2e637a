// The result of a replay for programs: the same as the text, as one JSON object.
#include <algorithm>

#include "app/command_replay_job.hpp"
#include "app/version.hpp"
#include "wire/json_effect.hpp"
#include "wire/json_units.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::app {

namespace {

using replay::DecisionRow;
using replay::RunReport;
using wire::count_of;
using wire::JsonWriter;

std::int64_t whole(std::uint64_t n) { return static_cast<std::int64_t>(n); }

void write_decisions(JsonWriter& w, const RunReport& report) {
    w.key("decisions").begin_array();
    for (const DecisionRow& row : report.decisions()) {
        w.begin_object().member("t", seconds_of(row.at));
        if (row.advised) {
            w.member("advised", true);
        } else {
            w.member("proposal", row.scale.proposal);
            w.member_or_null("decision_id", row.fate.decision_id);
            w.key("refused");
            row.fate.refused ? w.value(to_string(*row.fate.refused)) : w.null();
            w.key("outcome");
            row.outcome ? w.value(to_string(*row.outcome)) : w.null();
        }
        w.member_or_null("ready_prefill", count_of(row.ready.prefill));
        w.member_or_null("ready_decode", count_of(row.ready.decode));
        w.member_or_null("expected_prefill", count_of(row.expected.prefill));
        w.member_or_null("expected_decode", count_of(row.expected.decode));
        w.member_or_null("prefill", count_of(row.scale.prefill));
        w.member_or_null("decode", count_of(row.scale.decode));
        w.member("reason", to_string(row.scale.reason));
        std::string why;
        wire::append_why_json(why, row.scale.why);
        w.key("why").raw(why).end_object();
    }
    w.end_array();
}

void write_holds(JsonWriter& w, const RunReport& report) {
    w.key("holds").begin_array();
    for (const replay::HoldRow& h : report.holds()) {
        w.begin_object().member("role", to_string(h.role)).member("reason", to_string(h.reason));
        w.member("since", seconds_of(h.since)).member("last_seen", seconds_of(h.last_seen));
        w.member_or_null("deadline", h.deadline ? std::optional{seconds_of(*h.deadline)} : std::nullopt);
        w.member("ticks", h.ticks).end_object();
    }
    w.end_array();
}

void write_counts(JsonWriter& w, std::string_view name, const RunReport::Counts& counts) {
    w.key(name).begin_object();
    for (int i = 0; i < reason_count; ++i) {
        const auto n = counts[static_cast<std::size_t>(i)];
        if (n > 0) w.member(to_string(static_cast<Reason>(i)), n);
    }
    w.end_object();
}

void write_fpms(JsonWriter& w, const ReplayJob& job) {
    w.key("fpm").begin_object().member("taken", job.report.passes());
    const auto& last = job.report.last_diagnostics();
    w.member("repeated", last ? last->fpm_repeated : std::int64_t{0});
    w.member("outliers", last ? last->fpm_outliers : std::int64_t{0});
    w.member("late", whole(job.late)).end_object();
    w.member("refused", whole(job.refusals.total()));
    w.key("refused_by_cause").begin_object();
    for (const auto& [name, cause] : job.refusals.causes()) {
        w.key(name).begin_object().member("count", whole(cause.count)).key("places").begin_array();
        for (const replay::RefusedPlace& p : cause.places) {
            w.begin_object().member("file", std::string_view{p.file}).member("line", whole(p.line));
            w.member("message", std::string_view{p.message}).end_object();
        }
        w.end_array().end_object();
    }
    w.end_object();
}

void write_summary(JsonWriter& w, const ReplayJob& job) {
    const RunReport& r = job.report;
    w.key("summary").begin_object().member("ticks", r.ticks());
    w.member("load_ticks", r.load_ticks()).member("throughput_ticks", r.throughput_ticks());
    const auto& rows = r.decisions();
    w.member("decisions", whole(rows.size()));
    w.member("published", std::int64_t{std::count_if(rows.begin(), rows.end(), [](const DecisionRow& d) {
                 return d.fate.decision_id.has_value();
             })});
    write_counts(w, "decisions_by_reason", r.decision_reasons());
    write_counts(w, "load_reasons", r.load_reasons());
    write_counts(w, "throughput_reasons", r.throughput_reasons());
    write_fpms(w, job);
    w.key("engines").begin_object().member("prefill", job.engines.prefill);
    w.member("decode", job.engines.decode).end_object();
    w.member("first_t", seconds_of(r.first())).member("last_t", seconds_of(r.last()));
    w.member("span_s", seconds_of(r.last()) - seconds_of(r.first()));
    w.member_or_null("origin_unix_ms", job.origin_unix_ms);
    w.member("read_s", job.read_time.count()).member("run_s", job.run_time.count());
    w.member("fpm_per_s",
             job.run_time.count() > 0 ? static_cast<double>(r.passes()) / job.run_time.count() : 0.0);
    w.key("effects_verified");
    job.effects_verified ? w.value(whole(*job.effects_verified)) : w.null();
    w.member_or_null("expectations", job.expectations);
    w.member("interrupted", job.stopped).end_object();
}

void write_texts(JsonWriter& w, std::string_view name, const std::vector<std::string>& texts) {
    w.key(name).begin_array();
    for (const std::string& text : texts) w.value(std::string_view{text});
    w.end_array();
}

}  // namespace

std::string render_json(const ReplayJob& job) {
    std::string out;
    JsonWriter w{out};
    w.begin_object().member("version", program_version).member("kind", std::string_view{job.kind});
    w.key("files").begin_array();
    for (const InputFile& input : job.inputs) w.value(std::string_view{input.path()});
    w.end_array();
    w.key("mode");
    job.mode ? w.value(to_string(*job.mode)) : w.null();
    w.key("preset");
    job.preset ? w.value(std::string_view{*job.preset}) : w.null();
    write_texts(w, "inferred", job.notes);
    write_decisions(w, job.report);
    write_holds(w, job.report);
    write_summary(w, job);
    w.key("differences").begin_array();
    for (const Difference& d : job.differences) {
        w.begin_object()
            .member("where", std::string_view{d.where})
            .member("event", std::string_view{d.event});
        w.member("recorded", std::string_view{d.recorded});
        w.member("replayed", std::string_view{d.replayed}).end_object();
    }
    w.end_array();
    write_texts(w, "warnings", job.warnings);
    write_texts(w, "problems", job.problems);
    w.member("exit_code", std::int64_t{job.code()}).end_object();
    out += '\n';
    return out;
}

}  // namespace dynaplan::app
