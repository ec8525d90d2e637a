#include "net/access.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dynaplan::net {

namespace {

constexpr std::size_t token_max = 4096;  // bytes of the file; a token has tens to a few hundred

std::string reason() { return std::strerror(errno); }

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view white = " \t\r\n";
    const std::size_t first = text.find_first_not_of(white);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(white) - first + 1);
}

Result<std::string> read_small(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return failure("token_file " + path + ": " + reason());
    std::string text(token_max + 1, '\0');
    std::size_t filled = 0;
    ssize_t got = 0;
    while (filled < text.size() && (got = ::read(fd, text.data() + filled, text.size() - filled)) > 0)
        filled += static_cast<std::size_t>(got);
    const std::string why = got < 0 ? reason() : std::string{};
    ::close(fd);
    if (got < 0) return failure("token_file " + path + ": " + why);
    if (filled > token_max) return failure("token_file " + path + ": is larger than 4096 bytes");
    text.resize(filled);
    return text;
}

std::array<unsigned char, 32> digest_of(std::string_view token) {
    std::array<unsigned char, 32> digest{};
    ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
    return digest;
}

}  // namespace

bool is_mutating(std::string_view method) {
    return method != "GET" && method != "HEAD" && method != "OPTIONS";
}

Result<Access> Access::create(std::string_view listen_host, std::string token_file,
                              bool serves_mutating_calls, std::string_view setting) {
    if (token_file.empty() && serves_mutating_calls && !is_loopback(listen_host)) {
        return failure(std::string{setting} + ": '" + std::string{listen_host} +
                       "' is not a loopback address, so calls that change something need a token: give "
                       "http.token_file, or listen on 127.0.0.1");
    }
    Access access{std::move(token_file)};
    if (access.token_needed()) {
        if (const auto token = access.token(); !token) return tl::unexpected{token.error()};
    }
    return access;
}

Result<Access::Digest> Access::token() const {
    const auto text = read_small(token_file_);
    if (!text) return tl::unexpected{text.error()};
    const std::string_view token = trimmed(*text);
    if (token.empty()) return failure("token_file " + token_file_ + ": holds no token");
    const bool printable =
        std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!printable)
        return failure("token_file " + token_file_ +
                       ": a token is one line of printable ASCII characters without spaces");
    return digest_of(token);
}

std::optional<HttpResponse> Access::refusal(const HttpRequest& request) const {
    if (!token_needed() || !is_mutating(request.method)) return std::nullopt;
    const auto refuse = [](std::string_view message, std::string challenge) {
        HttpResponse response = error_response(401, message);
        response.headers.push_back({"WWW-Authenticate", std::move(challenge)});
        return response;
    };
    if (!request.bearer) return refuse("this call needs the header 'Authorization: Bearer TOKEN'", "Bearer");
    const auto expected = token();
    if (!expected)
        return refuse("the server's token file cannot be used now", "Bearer error=\"invalid_token\"");
    const Digest given = digest_of(*request.bearer);
    if (::CRYPTO_memcmp(given.data(), expected->data(), given.size()) != 0)
        return refuse("the token is not the right one", "Bearer error=\"invalid_token\"");
    return std::nullopt;
}

}  // namespace dynaplan::net
