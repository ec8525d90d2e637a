#include "net/url.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>

namespace dynaplan::net {

namespace {

namespace ip = boost::asio::ip;

std::string quoted(std::string_view text) {
    // An address is short; the message stays one line whatever was handed in.
    constexpr std::size_t shown = 120;
    std::string out = "'";
    for (const char c : text.substr(0, shown)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    return out + (text.size() > shown ? "...'" : "'");
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return port;
}

bool is_name(std::string_view host) {
    return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '.' || c == '_';
    });
}

bool is_ipv6(std::string_view host) {
    boost::system::error_code error;
    ip::make_address_v6(std::string{host}, error);
    return !error;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool starts_with_nocase(std::string_view text, std::string_view prefix) {
    return text.size() >= prefix.size() &&
           std::equal(prefix.begin(), prefix.end(), text.begin(),
                      [](char a, char b) { return a == ((b >= 'A' && b <= 'Z') ? b - 'A' + 'a' : b); });
}

}  // namespace

std::string HostPort::authority() const {
    const bool bracketed = host.find(':') != std::string::npos;
    return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort> parse_host_port(std::string_view text, std::optional<std::uint16_t> default_port) {
    const auto bad = [&](std::string_view what) {
        return failure(quoted(text) + ": " + std::string{what} +
                       "; an address reads 127.0.0.1:9086, [::1]:9086 or name:9086");
    };
    if (text.empty()) return bad("is empty");
    std::string_view host;
    std::optional<std::string_view> port_text;
    if (text.front() == '[') {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) return bad("the bracket is not closed");
        host = text.substr(1, close - 1);
        if (!is_ipv6(host)) return bad("there is no IPv6 address between the brackets");
        const std::string_view rest = text.substr(close + 1);
        if (!rest.empty()) {
            if (rest.front() != ':') return bad("a ':' and a port must follow the bracket");
            port_text = rest.substr(1);
        }
    } else {
        const std::size_t colon = text.find(':');
        if (colon != std::string_view::npos && text.find(':', colon + 1) != std::string_view::npos)
            return bad("an IPv6 address stands in brackets");
        const bool only_port = colon == std::string_view::npos && !default_port && port_of(text).has_value();
        host = only_port ? std::string_view{} : text.substr(0, colon);
        if (only_port) port_text = text;
        if (colon != std::string_view::npos) port_text = text.substr(colon + 1);
        if (!host.empty() && !is_name(host)) return bad("the host has a character that no host has");
    }
    if (!port_text) {
        if (!default_port) return bad("the port is missing");
        return HostPort{std::string{host}, *default_port};
    }
    const auto port = port_of(*port_text);
    if (!port) return bad("the port is not a number from 0 to 65535");
    return HostPort{std::string{host}, *port};
}

std::string Url::text() const { return (tls ? "https://" : "http://") + at.authority() + path; }

Result<Url> parse_url(std::string_view text) {
    Url url;
    std::string_view rest = text;
    if (starts_with_nocase(text, "http://")) {
        rest.remove_prefix(7);
    } else if (starts_with_nocase(text, "https://")) {
        rest.remove_prefix(8);
        url.tls = true;
    } else {
        return failure(quoted(text) + ": does not begin with http:// or https://");
    }
    const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
    const std::string_view authority = rest.substr(0, slash);
    std::string_view path = rest.substr(slash);
    if (authority.find('@') != std::string_view::npos)
        return failure("a URL with a user and password is refused: give them in their own settings");
    const auto at = parse_host_port(authority, static_cast<std::uint16_t>(url.tls ? 443 : 80));
    if (!at) return failure(quoted(text) + ": " + at.error().message);
    if (at->host.empty()) return failure(quoted(text) + ": the host is missing");
    if (at->port == 0) return failure(quoted(text) + ": nothing can be reached on port 0");
    if (path.find_first_of("?#") != std::string_view::npos)
        return failure(quoted(text) + ": a base URL has no query and no fragment");
    for (const char c : path) {
        if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
            return failure(quoted(text) + ": the path has a character that must be percent-encoded");
    }
    while (path.ends_with('/')) path.remove_suffix(1);
    url.at = *at;
    url.path = path;
    return url;
}

bool is_loopback(std::string_view host) {
    if (host == "localhost") return true;
    boost::system::error_code error;
    const ip::address address = ip::make_address(std::string{host}, error);
    if (error) return false;
    if (address.is_v6() && address.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, address.to_v6()).is_loopback();
    return address.is_loopback();
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_digit(text[i + 1]);
            const int low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += plus_is_space && text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += '%';
            out += digits[byte >> 4U];
            out += digits[byte & 15U];
        }
    }
    return out;
}

std::optional<std::vector<QueryItem>> parse_query(std::string_view text) {
    std::vector<QueryItem> items;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view item = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (item.empty()) continue;
        const std::size_t equals = std::min(item.find('='), item.size());
        auto name = percent_decoded(item.substr(0, equals), true);
        auto value = percent_decoded(item.substr(std::min(equals + 1, item.size())), true);
        if (!name || !value) return std::nullopt;
        items.push_back({std::move(*name), std::move(*value)});
    }
    return items;
}

}  // namespace dynaplan::net
