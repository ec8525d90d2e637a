// Another program as a child, its standard output read line by line.
#pragma once

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;  // POSIX names it so, and no header declares it

namespace dynaplan::support {

class ChildProcess {
public:
    explicit ChildProcess(std::vector<std::string> command) {
        std::array<int, 2> pipe_ends{};
        REQUIRE(::pipe2(pipe_ends.data(), O_CLOEXEC) == 0);
        std::vector<char*> arguments;
        arguments.reserve(command.size() + 1);
        for (std::string& word : command) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
        const int error = ::posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        ::close(pipe_ends[1]);
        out_ = pipe_ends[0];
        REQUIRE_MESSAGE(error == 0, command[0]);
    }
    ~ChildProcess() {
        kill_and_wait();
        ::close(out_);
    }
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] int pid() const { return pid_; }

    // The next whole line; empty at the end of the output. A line that was cut off by a kill is no line.
    std::optional<std::string> line() {
        for (;;) {
            if (const auto end = text_.find('\n'); end != std::string::npos) {
                std::string found = text_.substr(0, end);
                text_.erase(0, end + 1);
                return found;
            }
            std::array<char, 4096> piece{};
            const ssize_t n = ::read(out_, piece.data(), piece.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return std::nullopt;
            text_.append(piece.data(), static_cast<std::size_t>(n));
        }
    }
    void kill_and_wait() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = 0;
    }

private:
    pid_t pid_ = 0;
    int out_ = -1;
    std::string text_;
};

}  // namespace dynaplan::support
