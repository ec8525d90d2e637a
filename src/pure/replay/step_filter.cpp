#include "replay/step_filter.hpp"

#include <variant>

#include "replay/time_gate.hpp"
#include "wire/json_effect.hpp"

namespace dynaplan::replay {

namespace {

constexpr std::string_view input_name = "stdin";
constexpr std::string_view white = " \t\r\n";

}  // namespace

StepFilter::StepFilter(const PlannerConfig& config, decision::CoordinatorConfig coordinator)
    : session_{config, Assume::nothing, coordinator} {}

void StepFilter::take(std::string_view bytes, std::string& out) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const bool complete = end != std::string_view::npos;
        const std::string_view piece = bytes.substr(0, end);
        bytes.remove_prefix(complete ? end + 1 : bytes.size());
        if (complete && partial_.empty() && !too_long_) {
            take_line(piece, out);
            continue;
        }
        if (!too_long_ && partial_.size() + piece.size() <= wire::step_line_bytes_max) {
            partial_ += piece;
        } else {
            too_long_ = true;
            partial_.clear();
        }
        if (complete) finish(out);
    }
}

void StepFilter::finish(std::string& out) {
    if (too_long_) {
        ++place_;
        ++lines_;
        refuse("too_long", "the line is longer than 1 MiB", out);
        done(session_.now(), out);
    } else if (!partial_.empty()) {
        take_line(partial_, out);
    }
    partial_.clear();
    too_long_ = false;
}

void StepFilter::take_line(std::string_view line, std::string& out) {
    ++place_;
    if (line.find_first_not_of(white) == std::string_view::npos) return;
    ++lines_;
    if (line.size() > wire::step_line_bytes_max) {
        refuse("too_long", "the line is longer than 1 MiB", out);
        return done(session_.now(), out);
    }
    const auto parsed = parser_.parse(line, event_);
    if (!parsed) {
        refuse("malformed", parsed.error().message, out);
        return done(session_.now(), out);
    }
    if (parsed->fpm_refused) {
        const std::string cause{wire::to_string(*parsed->fpm_refused)};
        refuse("bad_fpm: " + cause, "fpm: " + cause, out);
        return done(session_.now(), out);
    }
    if (std::holds_alternative<DecisionPublished>(event_.body) ||
        std::holds_alternative<DecisionRefused>(event_.body)) {
        refuse("malformed", "event: 'published' and 'refused' come from the coordinator of this program",
               out);
        return done(session_.now(), out);
    }
    if (started_ && event_.at < session_.now()) {
        refuse("earlier", "t: is earlier than the line before", out);
        return done(session_.now(), out);
    }
    if (const std::string problem = time_problem(event_.at, session_.now(), started_); !problem.empty()) {
        refuse("time_jump", "t: " + problem, out);
        return done(session_.now(), out);
    }
    started_ = true;
    moments_.clear();
    if (session_.feed_quietly(event_, moments_)) {
        answer(out);
    } else {
        const auto fed = session_.feed(event_, moments_);
        answer(out);
        if (!fed) refuse("refused", fed.error().message, out);
    }
    done(event_.at, out);
}

void StepFilter::answer(std::string& out) {
    for (const Moment& moment : moments_) {
        for (std::size_t i = 0; i < moment.effects.size(); ++i) {
            const Effect& effect = moment.effects[i];
            if (const auto* refused = std::get_if<ConfigRefused>(&effect.body))
                refusals_.add("config", input_name, place_, refused->message);
            wire::append_effect_json(out, effect, moment.fates[i]);
            out += '\n';
        }
    }
}

void StepFilter::refuse(std::string_view cause, std::string_view message, std::string& out) {
    refusals_.add(cause, input_name, place_, message);
    wire::append_error(out, started_ ? std::optional{session_.now()} : std::nullopt, message);
    out += '\n';
}

// Before the first line that had a time there is none to give: null, as a number that is not finite is.
void StepFilter::done(TimePoint at, std::string& out) {
    wire::append_done(out, started_ ? at : at_seconds(std::numeric_limits<double>::quiet_NaN()));
    out += '\n';
}

}  // namespace dynaplan::replay
