// A real server that a test needs (nats-server, etcd): found on this machine, started on free ports of the
// loopback, awaited, stopped, started again, and gone with its owner, also when the test itself is killed.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace dynaplan::support {

// Where the program is, on PATH or where Debian puts servers. Nothing when it is not installed: the test then
// leaves with the message that this has printed; with CI=true in the environment the test has failed.
std::optional<std::string> program_or_skip(const std::string& name);

// A port nobody listens on at this moment. Somebody else may take it before it is used; start() tries again.
unsigned short free_port();

class ServerProcess {
public:
    // The command line for these ports, asked again with others when the server ends before it is ready.
    using Command = std::function<std::vector<std::string>(std::span<const unsigned short> ports)>;

    // Starts the program and waits until it accepts connections on the first port; the test fails when it
    // does not. What it prints goes to `log_file`, which a failure shows.
    ServerProcess(Command command, std::size_t ports, std::string log_file);
    ~ServerProcess();
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;

    [[nodiscard]] unsigned short port(std::size_t i = 0) const { return ports_.at(i); }
    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] std::string log() const;

    void terminate();             // SIGTERM, then SIGKILL after some seconds; waits for the end
    void kill();                  // SIGKILL; waits for the end
    void start_again();           // on the same ports, after one of the two
    void send(int signal) const;  // SIGSTOP, SIGCONT, SIGHUP

private:
    [[nodiscard]] bool start();
    void spawn();
    bool await_end(int seconds);

    Command command_;
    std::vector<unsigned short> ports_;
    std::string log_file_;
    pid_t pid_ = 0;
};

}  // namespace dynaplan::support
