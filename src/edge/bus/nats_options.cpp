#include "bus/nats_options.hpp"

#include <algorithm>

#include "bus/nats_key.hpp"

namespace dynaplan::bus {

namespace {

// A server closes the connection on a longer line (event plane specification 4.1); the verb, the id and the
// length take some of it.
constexpr std::size_t subject_bytes_most = 4000;

}  // namespace

std::string shown(std::string_view server) {
    const std::size_t scheme = server.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t at = server.rfind('@');
    if (at == std::string_view::npos || at < begin) return std::string{server};
    return std::string{server.substr(0, begin)}.append(server.substr(at + 1));
}

std::string host_of(std::string_view server) {
    const std::string plain = shown(server);
    const std::size_t scheme = plain.find("://");
    std::string host = scheme == std::string::npos ? plain : plain.substr(scheme + 3);
    host = host.substr(0, host.find('/'));
    if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

Result<void> check(const NatsOptions& options) {
    const bool tls = options.server.starts_with("tls://");
    if (!tls && !options.server.starts_with("nats://")) {
        return failure("NATS server '" + shown(options.server) +
                       "': an address begins with nats:// or, for TLS, with tls://");
    }
    if (host_of(options.server).empty())
        return failure("NATS server '" + shown(options.server) + "': the address names no host");
    if (!tls && (options.tls_ca_path || options.tls_insecure)) {
        return failure("NATS server '" + shown(options.server) +
                       "': " + (options.tls_ca_path ? "a CA certificate is" : "insecure TLS is") +
                       " given, but only a tls:// address uses TLS");
    }
    const NatsLogin& login = options.login;
    const bool earlier = (login.user && login.password) || login.token;
    if (!earlier && login.nkey_seed) {
        if (auto key = nats_public_key(*login.nkey_seed); !key) return tl::unexpected{key.error()};
    }
    return {};
}

Result<void> check_subject(std::string_view subject) {
    const auto wrong = [&](const std::string& what) {
        return failure("NATS subject '" + std::string{subject.substr(0, 200)} + "' " + what);
    };
    if (subject.empty()) return wrong("is empty");
    if (subject.size() > subject_bytes_most) return wrong("... is longer than 4000 bytes");
    const bool control = std::any_of(subject.begin(), subject.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f;
    });
    if (control) return wrong("holds a blank or a control character");
    if (subject.find_first_of("*>") != std::string_view::npos) return wrong("holds a wildcard");
    if (subject.starts_with('.') || subject.ends_with('.') || subject.find("..") != std::string_view::npos)
        return wrong("has an empty part between dots");
    return {};
}

}  // namespace dynaplan::bus
