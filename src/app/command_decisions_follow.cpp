#include "app/command_decisions_follow.hpp"

#include <algorithm>
#include <csignal>
#include <random>
#include <utility>

#include "app/command_decisions_exit.hpp"
#include "app/command_decisions_text.hpp"

namespace dynaplan::app {

namespace {

using std::chrono::milliseconds;

// One long poll. Below the 60 s that the API grants, and below the idle time of usual proxies.
constexpr milliseconds poll_wait{25'000};
// A long poll that ends sooner without a decision was not really one: the next comes after a pause.
constexpr milliseconds poll_least{50};
// On top of --timeout for an answer that is under way; an acknowledgement gets as much after an interrupt.
constexpr milliseconds answer_grace{2'000};
// A planner that restarts is back within seconds: it is found soon, at little cost.
constexpr net::BackoffOptions outage_pauses{milliseconds{100}, milliseconds{2'000}, 2.0, 0.2, 0};

std::function<double()> jitter() {
    return [engine = std::minstd_rand{std::random_device{}()}]() mutable {
        return std::uniform_real_distribution<double>{0.0, 1.0}(engine);
    };
}

std::string number(DecisionId id) { return "decision " + std::to_string(id); }

Trouble not_leading(const std::string& what) {
    return {Trouble::Kind::unavailable,
            "this planner stands by, or cannot use its store: " + what + " until it leads"};
}

ShellCommand::Variables variables_of(const SeenDecision& decision) {
    const auto text = [](const std::optional<std::int64_t>& n) {
        return n ? std::to_string(*n) : std::string{};
    };
    return {{"DYNAPLAN_DECISION_ID", std::to_string(decision.id)},
            {"DYNAPLAN_PREFILL", text(decision.prefill)},
            {"DYNAPLAN_DECODE", text(decision.decode)},
            {"DYNAPLAN_REASON", decision.reason},
            {"DYNAPLAN_DECISION", decision.json}};
}

}  // namespace

Follow::Follow(boost::asio::io_context& loop, DecisionSource& source, FollowOptions options)
    : source_{source},
      options_{std::move(options)},
      command_{loop},
      backoff_{outage_pauses, jitter()},
      pause_{loop},
      bound_{loop} {}

void Follow::start(Done done) {
    done_ = std::move(done);
    if (options_.timeout) {
        deadline_ = Clock::now() + *options_.timeout;
        arm_timeout();
    }
    if (options_.after) {
        after_ = *options_.after;
        poll();
    } else {
        begin();
    }
}

// The usual end is an empty answer to a poll that was only as long as the time that was left.
void Follow::arm_timeout() {
    bound_.expires_at(deadline_ + answer_grace);
    bound_.async_wait([this](const boost::system::error_code& error) {
        if (!error && !command_.running() && !acknowledging_) finish(decisions_exit::time_over);
    });
}

std::optional<milliseconds> Follow::remaining() const {
    if (!options_.timeout) return std::nullopt;
    return std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(deadline_ - Clock::now()));
}

// Where to begin when nobody said: with the newest decision, in case its acknowledgement never came.
void Follow::begin() {
    source_.standing([this](Answer<Standing> standing) {
        if (!standing) return pause(standing.error(), [this] { begin(); });
        // A planner that does not lead may know nothing yet, or something old.
        if (!standing->leading) return pause(not_leading("waiting"), [this] { begin(); });
        answered();
        if (!standing->newest) return poll();
        after_ = newest_seen_ = standing->newest->id;
        if (standing->newest->open()) {
            take(std::move(*standing->newest));
        } else {
            poll();
        }
    });
}

void Follow::poll() {
    if (check_ids_) return check_ids();
    const auto left = remaining();
    const milliseconds wait = left ? std::min(*left, poll_wait) : poll_wait;
    source_.next(after_, wait, [this, wait, asked = Clock::now()](Answer<std::optional<SeenDecision>> next) {
        if (!next) {
            check_ids_ = true;
            return pause(next.error(), [this] { poll(); });
        }
        if (!*next && remaining() == milliseconds{0}) return finish(decisions_exit::time_over);
        if (!*next && Clock::now() - asked < std::min(wait, poll_least))
            return pause({Trouble::Kind::unavailable, "long polls end at once"}, [this] { poll(); });
        answered();
        if (*next) return take(std::move(**next));
        poll();
    });
}

bool Follow::went_back(const Standing& standing) {
    const DecisionId newest = standing.newest ? standing.newest->id : -1;
    if (!standing.leading) return false;
    check_ids_ = false;
    if (newest >= newest_seen_) return false;
    fail("the planner's newest decision is " + std::to_string(newest) + " after " +
         std::to_string(newest_seen_) +
         " was seen: its store is another one now (or decisions.store is memory): start again to follow it");
    return true;
}

void Follow::check_ids() {
    source_.standing([this](Answer<Standing> standing) {
        if (!standing) return pause(standing.error(), [this] { poll(); });
        answered();
        if (went_back(*standing)) return;
        // A stand-by is asked the next time.
        check_ids_ = false;
        poll();
        check_ids_ = !standing->leading;
    });
}

void Follow::take(SeenDecision decision) {
    if (after_ >= 0 && decision.id > after_ + 1)
        say("the planner keeps nothing between " + number(after_) + " and " + std::to_string(decision.id));
    after_ = decision.id;
    newest_seen_ = std::max(newest_seen_, decision.id);
    if (options_.exec.empty()) {
        if (!print(decision, options_.json)) return fail("standard output cannot be written");
        return handled();
    }
    if (!decision.open()) {
        say(number(decision.id) + " is " + (decision.state.empty() ? "over" : decision.state) +
            " already: left out");
        return poll();
    }
    examine(decision);
}

// Only the newest open decision is carried out, and only on the word of a planner that leads.
void Follow::examine(const SeenDecision& decision) {
    source_.standing([this, decision](Answer<Standing> standing) {
        if (!standing) return pause(standing.error(), [this, decision] { examine(decision); });
        if (!standing->leading) {
            return pause(not_leading(number(decision.id) + " waits"),
                         [this, decision] { examine(decision); });
        }
        answered();
        if (went_back(*standing)) return;
        const SeenDecision& newest = *standing->newest;
        if (newest.id > decision.id) {
            say(number(decision.id) + " is superseded by " + std::to_string(newest.id) + ": left out");
            return poll();
        }
        if (!newest.open()) {
            say(number(decision.id) + " is " + newest.state + " already: left out");
            return poll();
        }
        execute(decision);
    });
}

void Follow::execute(const SeenDecision& decision) {
    say(readable(decision) + ": running the command");
    const auto started =
        command_.start(options_.exec, variables_of(decision), options_.exec_timeout,
                       [this, decision](const ShellCommand::End& end) { command_ended(decision, end); });
    if (!started) command_ended(decision, {false, started.error().message});
}

void Follow::command_ended(const SeenDecision& decision, const ShellCommand::End& end) {
    if (signal_ != 0) {
        // Whether it did its work cannot be told: whoever follows next is given the decision again.
        say(number(decision.id) + " stays open: its command was interrupted and " + end.how);
        return finish(decisions_exit::interrupted);
    }
    if (!end.succeeded) {
        any_failed_ = true;
        say(number(decision.id) + ": the command " + end.how);
        if (!source_.knows_failure()) {
            say(number(decision.id) + " stays open until the planner's time-out");
            return handled();
        }
    }
    acknowledge(decision, end.succeeded);
}

void Follow::acknowledge(const SeenDecision& decision, bool completed) {
    acknowledging_ = true;
    source_.settle(decision.id, completed, [this, decision, completed](Answer<SeenDecision> settled) {
        if (!settled && settled.error().may_pass())
            return pause(settled.error(), [this, decision, completed] { acknowledge(decision, completed); });
        acknowledging_ = false;
        if (!settled) {
            return fail(settled.error().message + ": " + number(decision.id) + " is not acknowledged");
        }
        answered();
        say(number(decision.id) + " is " + (settled->state.empty() ? "over" : settled->state));
        if (options_.json && !print(*settled, true)) return fail("standard output cannot be written");
        handled();
    });
}

void Follow::handled() {
    ++handled_;
    if (options_.count && handled_ >= *options_.count)
        return finish(any_failed_ ? decisions_exit::failed : decisions_exit::done);
    if (signal_ != 0) return finish(signal_ == SIGINT ? decisions_exit::interrupted : decisions_exit::done);
    if (remaining() == milliseconds{0}) return finish(decisions_exit::time_over);
    poll();
}

void Follow::pause(const Trouble& trouble, std::function<void()> again) {
    const bool unreachable = trouble.kind == Trouble::Kind::unreachable;
    if (!unreachable) ever_answered_ = true;
    if (!trouble.may_pass() || (unreachable && !ever_answered_ && !options_.patient))
        return fail(trouble.message);
    if (!std::exchange(troubled_, true)) say(trouble.message + "; trying again");
    milliseconds delay = backoff_.next().value_or(outage_pauses.max);
    const auto left = remaining();
    // An acknowledgement is not given up because the time to wait for decisions is over.
    if (left && !acknowledging_) {
        if (*left == milliseconds{0}) return finish(decisions_exit::time_over);
        delay = std::min(delay, *left);
    }
    pause_.expires_after(delay);
    pause_.async_wait([again = std::move(again)](const boost::system::error_code& error) {
        if (!error) again();
    });
}

void Follow::answered() {
    ever_answered_ = true;
    if (std::exchange(troubled_, false)) say("the planner answers again");
    backoff_.reset();
}

void Follow::interrupt(int signal) {
    if (!done_) return;
    const bool again = std::exchange(signal_, signal) != 0;
    if (command_.running()) return command_.pass_on(again ? SIGKILL : signal);
    if (!acknowledging_ || again) {
        return finish(signal == SIGINT || acknowledging_ ? decisions_exit::interrupted
                                                         : decisions_exit::done);
    }
    // The work is done: the planner should hear of it if it can.
    bound_.expires_after(answer_grace);
    bound_.async_wait([this](const boost::system::error_code& error) {
        if (error || !acknowledging_) return;
        say("the acknowledgement was not answered: the decision stays open");
        finish(decisions_exit::interrupted);
    });
}

void Follow::fail(const std::string& why) {
    say(why);
    finish(decisions_exit::failed);
}

void Follow::finish(int exit_code) {
    source_.stop();
    pause_.cancel();
    bound_.cancel();
    if (const auto done = std::exchange(done_, nullptr)) done(exit_code);
}

}  // namespace dynaplan::app
