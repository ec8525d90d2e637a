// `decisions watch` and `decisions wait`: decisions one after the other, printed, or handed to a command
// whose end is the acknowledgement (specification, connectors 1.6, V-11).
//
// Promises: it begins with the newest decision if that is still open, or with the first after `after`. Every
// decision after that comes once, in order; one that is answered or superseded by the time its command would
// run is left out, and that is said. A planner that restarts, stands by or cannot be reached is asked again
// with growing pauses, which is said once for each outage. An acknowledgement is repeated until it is
// answered. Ids that go back end it: another store has taken the place of the one that was followed.
//
// The loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/command_decisions_shell.hpp"
#include "app/command_decisions_source.hpp"
#include "net/retry.hpp"

namespace dynaplan::app {

struct FollowOptions {
    std::optional<DecisionId> after;
    std::optional<std::chrono::milliseconds> timeout;
    std::optional<std::int64_t> count;  // ends after so many
    bool json = false;
    std::string exec;  // empty: decisions are printed
    std::optional<std::chrono::milliseconds> exec_timeout;
    bool patient = true;  // a planner that cannot be reached at the very first is asked again too
};

class Follow {
public:
    using Done = std::function<void(int exit_code)>;

    Follow(boost::asio::io_context& loop, DecisionSource& source, FollowOptions options);

    void start(Done done);
    // SIGINT or SIGTERM. A command that runs gets it, and its decision stays open; a second one kills it.
    void interrupt(int signal);

private:
    using Clock = std::chrono::steady_clock;

    void begin();
    void poll();
    void take(SeenDecision);
    void examine(const SeenDecision&);
    void execute(const SeenDecision&);
    void command_ended(const SeenDecision&, const ShellCommand::End&);
    void acknowledge(const SeenDecision&, bool completed);
    void handled();
    [[nodiscard]] bool went_back(const Standing&);
    void check_ids();
    void pause(const Trouble&, std::function<void()> again);
    void answered();
    [[nodiscard]] std::optional<std::chrono::milliseconds> remaining() const;
    void arm_timeout();
    void fail(const std::string& why);
    void finish(int exit_code);

    DecisionSource& source_;
    FollowOptions options_;
    ShellCommand command_;
    net::Backoff backoff_;
    boost::asio::steady_timer pause_;
    boost::asio::steady_timer bound_;  // of the whole, and of an acknowledgement after an interrupt
    Clock::time_point deadline_{};
    Done done_;
    DecisionId after_ = -1;
    DecisionId newest_seen_ = -1;
    bool check_ids_ = false;  // the planner was away: is its store still the same?
    bool troubled_ = false;   // an outage has been announced
    bool ever_answered_ = false;
    bool acknowledging_ = false;
    int signal_ = 0;  // that interrupts
    std::int64_t handled_ = 0;
    bool any_failed_ = false;
};

}  // namespace dynaplan::app
