// What is asked of etcd and what it answers, as plain values: keys and values are bytes, revisions and leases
// numbers. The texts of its JSON gateway are etcd_json's.
//
// Revisions count the changes of the whole store and begin at 1; 0 stands for "none", as etcd itself has it:
// the revisions, the version and the lease of a key that is not there are 0.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace dynaplan::net {

struct EtcdPair {
    std::string key;
    std::string value;
    std::int64_t create_revision = 0;
    std::int64_t mod_revision = 0;
    std::int64_t version = 0;
    std::int64_t lease = 0;
    bool operator==(const EtcdPair&) const = default;
};

// The keys in [key, range_end); without a range_end the one key.
struct EtcdSpan {
    std::string key;
    std::string range_end{};
    bool operator==(const EtcdSpan&) const = default;
};

// All keys that begin with this.
EtcdSpan etcd_prefix(std::string_view prefix);

struct EtcdListing {
    std::int64_t revision = 0;  // of the store, as the listing saw it
    std::vector<EtcdPair> pairs;
};

enum class EtcdField { version, create_revision, mod_revision, lease, value };
enum class EtcdRelation { equal, not_equal, greater, less };

// Holds when the key's field stands so to what is given: `number`, or `text` for the value. A key that is not
// there has zeros; a comparison of its value never holds.
struct EtcdCompare {
    std::string key;
    EtcdField field = EtcdField::mod_revision;
    std::int64_t number = 0;
    std::string text{};
    EtcdRelation relation = EtcdRelation::equal;
};

// Without a lease the key stays, and a lease that it had is taken off it.
struct EtcdPut {
    std::string key;
    std::string value;
    std::int64_t lease = 0;
};
struct EtcdDelete {
    EtcdSpan span;
};
struct EtcdRead {
    EtcdSpan span;
};
using EtcdOperation = std::variant<EtcdPut, EtcdDelete, EtcdRead>;

// All of `success` when every comparison holds, else all of `failure`: in one step. A branch may name a key
// once to put or delete it.
struct EtcdTransaction {
    std::vector<EtcdCompare> compare{};
    std::vector<EtcdOperation> success{};
    std::vector<EtcdOperation> failure{};
};
// etcd refuses more in one branch (its default for --max-txn-ops), and a larger request
// (--max-request-bytes).
inline constexpr std::size_t etcd_operations_max = 128;
inline constexpr std::size_t etcd_request_max = std::size_t{3} << 19U;  // bytes, 1.5 MiB

struct EtcdTransactionAnswer {
    bool succeeded = false;
    std::int64_t revision = 0;          // with a put or a delete: also the mod_revision of what was put
    std::vector<EtcdListing> listings;  // of the branch that was taken, one for each EtcdRead
};

struct EtcdGrant {
    std::int64_t lease = 0;
    std::chrono::seconds ttl{0};  // what was granted, which may be more than what was asked for
};
struct EtcdLeaseTime {
    std::optional<std::chrono::seconds> left;  // nothing: there is no such lease
    std::chrono::seconds granted{0};
    std::vector<std::string> keys;
};

struct EtcdEvent {
    bool deleted = false;  // then only the key and the mod_revision are given
    EtcdPair pair;
    bool operator==(const EtcdEvent&) const = default;
};
// One message of a watch. All events of one revision come in the same message.
struct EtcdWatchMessage {
    std::int64_t revision = 0;
    bool created = false;
    bool canceled = false;  // no event will follow, though the stream stays open
    std::int64_t compact_revision = 0;
    std::string cancel_reason;
    std::vector<EtcdEvent> events;
};

// Why there is no answer. `unreachable` and `refused`: nothing was carried out. `lost`: it was sent and may
// have been carried out.
enum class EtcdFault { unreachable, refused, lost };
struct EtcdFailure {
    EtcdFault fault = EtcdFault::lost;
    int code = 0;         // gRPC's, where etcd gave one: 5 is "not found", 16 "who are you"
    std::string message;  // one line
};
template <class T>
using EtcdResult = tl::expected<T, EtcdFailure>;

}  // namespace dynaplan::net
