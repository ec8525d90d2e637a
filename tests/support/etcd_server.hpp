// A real etcd with its data in a temporary folder: `if (!etcd_program()) return;` at the head of a test, then
// an EtcdServer. It may be stopped, killed, frozen and started again on the same data.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>

#include "support/server_process.hpp"
#include "support/temp_folder.hpp"

namespace dynaplan::support {

inline std::optional<std::string> etcd_program() { return program_or_skip("etcd"); }

class EtcdServer {
public:
    // `arguments` are added to the command line; with "--cert-file=" among them it listens with TLS.
    explicit EtcdServer(std::vector<std::string> arguments = {}) : arguments_{std::move(arguments)} {
        await_service();
    }

    [[nodiscard]] std::string url() const { return url_of(process_.port()); }
    [[nodiscard]] unsigned short port() const { return process_.port(); }

    void stop() { process_.terminate(); }
    void kill() { process_.kill(); }
    // On the same port and data, after one of the two.
    void start() {
        process_.start_again();
        await_service();
    }
    // It still accepts connections, and answers nothing.
    void freeze() {
        process_.send(SIGSTOP);
        int status = 0;  // not before all its threads stand still
        REQUIRE(::waitpid(process_.pid(), &status, WUNTRACED) == process_.pid());
        REQUIRE(WIFSTOPPED(status));
    }
    void thaw() { process_.send(SIGCONT); }

private:
    // It accepts connections a while before it answers, which it says in its log.
    void await_service() {
        ++starts_;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (lines_of_service() < starts_) {
            REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, process_.log());
            ::poll(nullptr, 0, 5);  // milliseconds between two looks
        }
    }
    [[nodiscard]] int lines_of_service() const {
        const std::string log = process_.log();
        int count = 0;
        for (auto at = log.find("serving client traffic"); at != std::string::npos;
             at = log.find("serving client traffic", at + 1))
            ++count;
        return count;
    }
    [[nodiscard]] std::string url_of(unsigned short port) const {
        const bool tls = std::any_of(arguments_.begin(), arguments_.end(),
                                     [](const std::string& a) { return a.starts_with("--cert-file="); });
        return (tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port);
    }
    [[nodiscard]] std::vector<std::string> command(std::span<const unsigned short> ports) const {
        const std::string own_url = url_of(ports[0]);
        std::vector<std::string> words{
            *etcd_program(), "--data-dir=" + (folder_ / "data"), "--listen-client-urls=" + own_url,
            "--advertise-client-urls=" + own_url,
            // A cluster of one talks to nobody.
            "--listen-peer-urls=http://127.0.0.1:0", "--initial-advertise-peer-urls=http://127.0.0.1:0",
            "--initial-cluster=default=http://127.0.0.1:0", "--logger=zap", "--unsafe-no-fsync"};
        words.insert(words.end(), arguments_.begin(), arguments_.end());
        return words;
    }

    TempFolder folder_{memory_folder()};
    std::vector<std::string> arguments_;
    int starts_ = 0;
    ServerProcess process_{[this](std::span<const unsigned short> ports) { return command(ports); }, 1,
                           folder_ / "etcd.log"};
};

}  // namespace dynaplan::support
