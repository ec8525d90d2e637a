// A small etcd for the vectors of the virtual connector: keys, revisions, leases and transactions as etcd has
// them, in memory. A write of the coordinator can be made to fail.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/etcd_message.hpp"

namespace dynaplan::check_vectors {

class EtcdInMemory {
public:
    // What one revision changed, as a watch tells it.
    struct Change {
        std::int64_t revision = 0;
        std::vector<net::EtcdEvent> events;
    };

    // The puts of transactions count as key writes where the key begins with `counted`.
    explicit EtcdInMemory(std::string counted) : counted_{std::move(counted)} {}

    [[nodiscard]] net::EtcdListing list(const net::EtcdSpan& span) const;
    // Nothing: refused, and nothing of it is stored. Operations are puts, deletes and reads.
    [[nodiscard]] std::optional<net::EtcdTransactionAnswer> transact(const net::EtcdTransaction& wanted);
    void put(const net::EtcdPut& one);
    // The lease ends: its keys go, all in one revision.
    void end_lease(std::int64_t lease);

    // The nth key write of a transaction from now on is refused, and the whole transaction with it.
    void refuse_write(std::int64_t nth) { refused_.push_back(nth); }

    // Since the last call, oldest first.
    [[nodiscard]] std::vector<Change> take_changes();

private:
    [[nodiscard]] bool holds(const net::EtcdCompare& compare) const;
    [[nodiscard]] bool is_refused(const std::vector<net::EtcdOperation>& branch);
    void put_at(std::int64_t revision, const net::EtcdPut& one);
    void erase_at(std::int64_t revision, const std::string& key);
    Change& change_at(std::int64_t revision);

    std::string counted_;
    std::int64_t revision_ = 1;  // etcd's begins so
    std::map<std::string, net::EtcdPair> pairs_;
    std::vector<std::int64_t> refused_;  // for each write that is to be refused: how many until then
    std::vector<Change> changes_;
};

}  // namespace dynaplan::check_vectors
