// The texts of etcd's JSON gateway (v3): requests are written, answers are read. Keys and values are base64,
// 64-bit integers are strings, and what is zero, false or empty is missing.
//
// Pure text, any thread. An answer that makes no sense is a Result's error; what etcd itself refuses is
// etcd_refusal's.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "net/etcd_message.hpp"

namespace dynaplan::net {

std::string etcd_range_request(const EtcdSpan& span);
// Whether anything is there, without its value: the cheapest question.
std::string etcd_probe_request();
std::string etcd_transaction_request(const EtcdTransaction& transaction);
std::string etcd_grant_request(std::chrono::seconds ttl);
std::string etcd_lease_request(std::int64_t lease);  // of keep-alive and revoke
std::string etcd_lease_time_request(std::int64_t lease);
// Every event from `from_revision` on.
std::string etcd_watch_request(const EtcdSpan& span, std::int64_t from_revision);
std::string etcd_authenticate_request(std::string_view name, std::string_view password);

Result<EtcdListing> read_etcd_listing(std::string_view json);
Result<EtcdTransactionAnswer> read_etcd_transaction(std::string_view json);
Result<EtcdGrant> read_etcd_grant(std::string_view json);
// Nothing: the lease is gone, for which etcd has no error.
Result<std::optional<std::chrono::seconds>> read_etcd_keep_alive(std::string_view json);
Result<EtcdLeaseTime> read_etcd_lease_time(std::string_view json);
Result<std::string> read_etcd_token(std::string_view json);
// A line of a watch. The object by which etcd ends a stream is an error with etcd's own words.
Result<EtcdWatchMessage> read_etcd_watch_line(std::string_view json);

// An answer with a status other than 200: nothing was carried out (`refused`) where the code says so, else
// `lost`.
EtcdFailure etcd_refusal(unsigned status, std::string_view body);
// The server does not know who asks (the token has expired, or the rights have changed since it was given):
// ask for a new token and repeat.
bool etcd_wants_token(const EtcdFailure& failure);

}  // namespace dynaplan::net
