#include "app/command_decisions_shell.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/assert.hpp"

extern char** environ;  // POSIX names it so, and no header declares it

namespace dynaplan::app {

namespace {

// What a child gets: our environment, with `variables` in the place of its own of the same name.
std::vector<std::string> environment_with(const ShellCommand::Variables& variables) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        bool replaced = false;
        for (const auto& [name, value] : variables)
            replaced =
                replaced || (text.size() > name.size() && text.starts_with(name) && text[name.size()] == '=');
        if (!replaced) all.emplace_back(text);
    }
    for (const auto& [name, value] : variables) all.push_back(name + '=' + value);
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

std::string seconds_text(std::chrono::milliseconds time) {
    std::string text = std::to_string(std::chrono::duration<double>(time).count());
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text + " s";
}

}  // namespace

ShellCommand::ShellCommand(boost::asio::io_context& loop) : children_{loop, SIGCHLD}, timer_{loop} {}

ShellCommand::~ShellCommand() {
    if (pid_ <= 0) return;
    pass_on(SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<void> ShellCommand::start(const std::string& command, const Variables& variables,
                                 std::optional<std::chrono::milliseconds> time_bound,
                                 std::function<void(End)> done) {
    DYNAPLAN_ASSERT(!running());
    std::vector<std::string> words{"sh", "-c", command};
    std::vector<std::string> environment = environment_with(variables);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    // Sockets of the loop are not marked close-on-exec by Asio.
    ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, "/bin/sh", &actions, &attributes, pointers(words).data(),
                                    pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) return failure(std::string{"cannot run /bin/sh: "} + std::strerror(error));
    pid_ = pid;
    late_.clear();
    done_ = std::move(done);
    if (time_bound) too_long(*time_bound);
    await_child();
    return {};
}

void ShellCommand::pass_on(int signal) {
    if (running()) ::kill(-pid_, signal);
}

// A signal says that some child changed, once for several: ask for ours. One that comes between two waits is
// kept by the signal set.
void ShellCommand::await_child() {
    children_.async_wait([this](const boost::system::error_code& error, int) {
        if (error || !running()) return;
        siginfo_t changed{};
        if (::waitid(P_PID, static_cast<id_t>(pid_), &changed, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            changed.si_pid != pid_) {
            return await_child();
        }
        // What the shell left behind of a command that took too long goes too, while the number of its group
        // is still ours.
        if (!late_.empty()) pass_on(SIGKILL);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        ended(status);
    });
}

void ShellCommand::too_long(std::chrono::milliseconds bound) {
    timer_.expires_after(bound);
    timer_.async_wait([this, bound](const boost::system::error_code& error) {
        if (error || !running()) return;
        if (late_.empty()) {
            late_ = "took longer than " + seconds_text(bound);
            pass_on(SIGTERM);
            too_long(kill_after);
        } else {
            pass_on(SIGKILL);
        }
    });
}

void ShellCommand::ended(int status) {
    pid_ = 0;
    timer_.cancel();
    End end;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        end.how = "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
    } else {
        end.how = "ended with " + std::to_string(WEXITSTATUS(status));
        end.succeeded = WEXITSTATUS(status) == 0;
    }
    if (!late_.empty()) end = {false, late_};
    const auto done = std::exchange(done_, nullptr);
    done(std::move(end));
}

}  // namespace dynaplan::app
