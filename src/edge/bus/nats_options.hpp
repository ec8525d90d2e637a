// Where and how to reach NATS (event plane specification 4.4). Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace dynaplan::bus {

// What is given is used by the first rule that applies: user with password, token, nkey seed, credentials
// file; otherwise the user `user` with the password `user`, which a server that needs none accepts as well.
struct NatsLogin {
    std::optional<std::string> user{};
    std::optional<std::string> password{};
    std::optional<std::string> token{};
    std::optional<std::string> nkey_seed{};         // the seed itself, "SU..."
    std::optional<std::string> credentials_file{};  // path
};

struct NatsOptions {
    std::string server{"nats://localhost:4222"};  // nats:// or tls://
    NatsLogin login{};
    std::optional<std::string> tls_ca_path{};  // PEM; none: the system's roots
    bool tls_insecure = false;                 // any certificate will do
    std::chrono::milliseconds connect_timeout{2000};
    // Between attempts, doubled after each; without end.
    std::chrono::milliseconds retry_first{100};
    std::chrono::milliseconds retry_most{1000};
};

// What no attempt could ever succeed with.
[[nodiscard]] Result<void> check(const NatsOptions&);

// The server's address as it may be shown: without user and password.
[[nodiscard]] std::string shown(std::string_view server);

// The host of a server's address.
[[nodiscard]] std::string host_of(std::string_view server);

// May this text be subscribed to, or published on? Whatever has a meaning of its own to NATS is refused: the
// client library checks less on the one side and nothing on the other (event plane specification 4.1).
[[nodiscard]] Result<void> check_subject(std::string_view subject);

}  // namespace dynaplan::bus
