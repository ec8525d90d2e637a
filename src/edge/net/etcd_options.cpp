#include "net/etcd_options.hpp"

#include <charconv>
#include <cstdint>
#include <utility>

#include "net/url.hpp"

namespace dynaplan::net {

namespace {

constexpr std::uint64_t lease_ttl_max = 9'000'000'000;  // etcd's own bound, seconds

std::vector<std::string> split_at_commas(std::string_view text) {
    std::vector<std::string> out;
    for (;;) {
        const std::size_t end = text.find(',');
        out.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

}  // namespace

Result<std::string> etcd_endpoint_url(const std::string& endpoint, const TlsOptions& tls) {
    const bool has_scheme = endpoint.find("://") != std::string::npos;
    const bool certificates = !tls.certificate_authority.empty() || !tls.client_certificate.empty();
    std::string url = has_scheme ? endpoint : (certificates ? "https://" : "http://") + endpoint;
    if (const auto parsed = parse_url(url); !parsed)
        return failure("etcd endpoint \"" + endpoint + "\": " + parsed.error().message);
    return url;
}

Result<EtcdOptions> etcd_options_from(
    const std::function<std::optional<std::string>(std::string_view)>& lookup) {
    const auto value = [&](std::string_view name) { return lookup(name).value_or(std::string{}); };
    EtcdOptions out;
    if (const std::string endpoints = value("ETCD_ENDPOINTS"); !endpoints.empty())
        out.endpoints = split_at_commas(endpoints);

    out.username = value("ETCD_AUTH_USERNAME");
    out.password = value("ETCD_AUTH_PASSWORD");
    if (out.username.empty() != out.password.empty())
        return failure(
            "ETCD_AUTH_USERNAME and ETCD_AUTH_PASSWORD: one is set and the other is not; set both");
    // Never both ways at once: a name goes before certificates.
    if (out.username.empty()) {
        out.tls.certificate_authority = value("ETCD_AUTH_CA");
        out.tls.client_certificate = value("ETCD_AUTH_CLIENT_CERT");
        out.tls.client_key = value("ETCD_AUTH_CLIENT_KEY");
        if (out.tls.client_certificate.empty() != out.tls.client_key.empty())
            return failure(
                "ETCD_AUTH_CLIENT_CERT and ETCD_AUTH_CLIENT_KEY: one is set and the other is not; set both");
    }
    for (const std::string& endpoint : out.endpoints) {
        if (const auto url = etcd_endpoint_url(endpoint, out.tls); !url)
            return failure("ETCD_ENDPOINTS: " + url.error().message);
    }

    const std::string ttl = value("ETCD_LEASE_TTL");
    std::uint64_t seconds = 0;
    const auto read = std::from_chars(ttl.data(), ttl.data() + ttl.size(), seconds);
    const bool whole = read.ec == std::errc{} && read.ptr == ttl.data() + ttl.size();
    if (whole && seconds > 0 && seconds <= lease_ttl_max)
        out.lease_ttl = std::chrono::seconds{static_cast<std::int64_t>(seconds)};
    return out;
}

}  // namespace dynaplan::net
