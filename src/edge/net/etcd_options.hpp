// Where etcd is and how to get in, and the same out of the environment that the existing clients read.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "net/transport.hpp"

namespace dynaplan::net {

struct EtcdOptions {
    std::vector<std::string> endpoints{"http://localhost:2379"};  // URLs; one without a scheme is https with
                                                                  // certificates, else http
    std::string username;                                         // empty: no authentication by name
    std::string password;
    TlsOptions tls{};                    // for https; each a path or PEM text
    std::chrono::seconds lease_ttl{10};  // of leases that the process asks for
    // Of one attempt. A question that may be repeated is asked of each endpoint once.
    std::chrono::milliseconds connect_timeout{2'000};
    std::chrono::milliseconds request_timeout{5'000};
    std::size_t response_max = std::size_t{64} << 20U;  // bytes of a listing or of a watch's message
};

// `lookup` tells what a variable holds; empty counts as not set. ETCD_ENDPOINTS (separated by commas, taken
// as they are), ETCD_AUTH_USERNAME with ETCD_AUTH_PASSWORD, or else ETCD_AUTH_CA, ETCD_AUTH_CLIENT_CERT with
// ETCD_AUTH_CLIENT_KEY, and ETCD_LEASE_TTL, where zero and what is no number mean the default.
Result<EtcdOptions> etcd_options_from(
    const std::function<std::optional<std::string>(std::string_view)>& lookup);

// The form in which the HTTP client takes an endpoint, or what is wrong with it.
Result<std::string> etcd_endpoint_url(const std::string& endpoint, const TlsOptions& tls);

}  // namespace dynaplan::net
