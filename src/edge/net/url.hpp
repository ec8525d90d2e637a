// Addresses as people write them: http and https URLs, host:port, and the parts of a request target.
//
// Hosts are kept without the brackets of an IPv6 literal; authority() puts them back. What cannot be used
// fails with one line that quotes the text and says what is expected. Grammar: RFC 3986, as far as a client
// of HTTP needs it; names with a user and password are refused, since such a URL ends up in logs.
//
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace dynaplan::net {

struct HostPort {
    std::string host;  // a name, an IPv4 address, or an IPv6 address without brackets
    std::uint16_t port = 0;

    // "host:port", IPv6 in brackets.
    [[nodiscard]] std::string authority() const;
    bool operator==(const HostPort&) const = default;
};

// "127.0.0.1:9086", "[::1]:9086", ":9086" (all addresses: the host is empty), or a bare port. Port 0 is
// taken. Without a port, `default_port` is used, and it is an error when there is none.
Result<HostPort> parse_host_port(std::string_view text, std::optional<std::uint16_t> default_port = {});

struct Url {
    bool tls = false;  // https
    HostPort at;       // port 80 or 443 when the text names none
    std::string
        path;  // what stands before each request's own path: "" or "/prefix", never with a slash at the end

    [[nodiscard]] std::string text() const;
    bool operator==(const Url&) const = default;
};

// Query and fragment are refused: this is a base that paths are appended to.
Result<Url> parse_url(std::string_view text);

// Is this the address of this machine's loopback: 127.0.0.0/8, ::1, or the name localhost?
bool is_loopback(std::string_view host);

// "%2F" becomes "/"; nothing for a broken escape. With `plus_is_space`, as in queries, "+" becomes " ".
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space = false);
// Everything but letters, digits and "-._~" is escaped: safe as one path segment or query value.
std::string percent_encoded(std::string_view text);

struct QueryItem {
    std::string name;
    std::string value;
    bool operator==(const QueryItem&) const = default;
};

// "a=1&b=x%20y" in its order, decoded. Nothing for a broken escape.
std::optional<std::vector<QueryItem>> parse_query(std::string_view text);

}  // namespace dynaplan::net
