#include "support/server_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dynaplan::support {

namespace {

constexpr int start_attempts = 5;
constexpr auto ready_within = std::chrono::seconds{20};
constexpr auto asked_every = std::chrono::milliseconds{5};

sockaddr_in loopback(unsigned short port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool accepts_connections(unsigned short port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(fd);
    return connected;
}

}  // namespace

std::optional<std::string> program_or_skip(const std::string& name) {
    const char* path = std::getenv("PATH");
    std::istringstream folders{std::string{path != nullptr ? path : ""} +
                               ":/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin"};
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string program = folder + "/" + name;
        if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
    }
    const char* ci = std::getenv("CI");
    if (ci != nullptr && std::string{ci} == "true") {
        FAIL(name << " is not installed; tools/setup brings it");
    } else {
        MESSAGE(name << " is not installed: skipped; tools/setup brings it");
    }
    return std::nullopt;
}

unsigned short free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    ::close(fd);
    return ntohs(address.sin_port);
}

ServerProcess::ServerProcess(Command command, std::size_t ports, std::string log_file)
    : command_{std::move(command)}, ports_(ports), log_file_{std::move(log_file)} {
    for (int i = 0; i < start_attempts; ++i) {
        for (unsigned short& port : ports_) port = free_port();
        if (start()) return;
    }
    FAIL("the server does not start: " << log());
}

ServerProcess::~ServerProcess() { kill(); }

std::string ServerProcess::log() const {
    std::ifstream file{log_file_};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void ServerProcess::spawn() {
    std::vector<std::string> words = command_(ports_);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int log = ::open(log_file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    REQUIRE_MESSAGE(log >= 0, log_file_);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
        // Only what is safe between fork and exec.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        ::dup2(log, STDOUT_FILENO);
        ::dup2(log, STDERR_FILENO);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    ::close(log);
}

bool ServerProcess::start() {
    spawn();
    const auto deadline = std::chrono::steady_clock::now() + ready_within;
    while (std::chrono::steady_clock::now() < deadline) {
        if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
            pid_ = 0;
            return false;
        }
        if (accepts_connections(ports_.front())) return true;
        std::this_thread::sleep_for(asked_every);  // a connection that is refused is refused at once
    }
    kill();
    return false;
}

void ServerProcess::start_again() {
    REQUIRE(pid_ == 0);
    REQUIRE_MESSAGE(start(), log());
}

void ServerProcess::send(int signal) const {
    REQUIRE(pid_ > 0);
    REQUIRE(::kill(pid_, signal) == 0);
}

bool ServerProcess::await_end(int seconds) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
    while (std::chrono::steady_clock::now() < deadline) {
        const pid_t ended = ::waitpid(pid_, nullptr, WNOHANG);
        if (ended == pid_ || (ended < 0 && errno != EINTR)) {
            pid_ = 0;
            return true;
        }
        std::this_thread::sleep_for(asked_every);
    }
    return false;
}

void ServerProcess::terminate() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    constexpr int patience_s = 10;
    if (!await_end(patience_s)) kill();
}

void ServerProcess::kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
}

}  // namespace dynaplan::support
