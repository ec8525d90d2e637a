// One command line through /bin/sh, on the loop: started, followed to its end, stopped when it takes too
// long.
//
// It runs in a process group of its own, so that a signal reaches everything that it started; its standard
// input is empty, its output is ours, no other descriptor of ours is open in it.
//
// The loop's thread. One command at a time. SIGCHLD is taken: nothing else of the program may wait for
// children.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "core/result.hpp"

namespace dynaplan::app {

class ShellCommand {
public:
    struct End {
        bool succeeded = false;  // exit status 0, within its time
        std::string how;         // "ended with 3", "was killed by signal 9"
    };
    using Variables = std::vector<std::pair<std::string, std::string>>;
    // From SIGTERM for a command that takes too long to SIGKILL.
    static constexpr std::chrono::seconds kill_after{5};

    explicit ShellCommand(boost::asio::io_context& loop);
    ShellCommand(const ShellCommand&) = delete;
    ShellCommand& operator=(const ShellCommand&) = delete;
    // A command that still runs is killed.
    ~ShellCommand();

    // `variables` are added to our environment. Fails when nothing could be started; else `done` is called
    // once, from the loop.
    Result<void> start(const std::string& command, const Variables& variables,
                       std::optional<std::chrono::milliseconds> time_bound, std::function<void(End)> done);
    // To the whole process group.
    void pass_on(int signal);
    [[nodiscard]] bool running() const { return pid_ > 0; }

private:
    void await_child();
    void too_long(std::chrono::milliseconds bound);
    void ended(int status);

    boost::asio::signal_set children_;
    boost::asio::steady_timer timer_;
    pid_t pid_ = 0;
    std::string late_;  // not empty: its time is over
    std::function<void(End)> done_;
};

}  // namespace dynaplan::app
