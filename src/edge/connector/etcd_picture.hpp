// What a namespace's keys in etcd say, parsed once: listings replace it, a watch's events change it. Pure,
// and of no thread.
//
// A value that cannot be parsed counts as not set, and is remarked on once. Counts and ids are decimal and
// not negative, as the reference reads them (an optional '+', no blanks); what does not fit our own numbers
// counts as unparsable too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connector/etcd_keys.hpp"
#include "net/etcd_message.hpp"
#include "port/decision_store.hpp"

namespace dynaplan::connector {

class EtcdPicture {
public:
    explicit EtcdPicture(EtcdKeys keys) : keys_{std::move(keys)} {}

    void replace(const net::EtcdListing& listing);
    // Events that the picture has already are passed over.
    void apply(std::int64_t revision, const std::vector<net::EtcdEvent>& events);

    // The store's revision that it shows; 0: nothing yet.
    [[nodiscard]] std::int64_t as_of() const { return as_of_; }
    // An acknowledged record whose acknowledgement has gone from the store is open again: readiness is what
    // scaled_decision_id says now.
    [[nodiscard]] port::StoredState state() const;
    // The revision at which a key was last written; 0: it is not there.
    [[nodiscard]] std::int64_t written_at(const std::string& key) const;
    // The revision at which the leader key was made; 0: nobody leads.
    [[nodiscard]] std::int64_t leader_since() const;
    [[nodiscard]] std::optional<DecisionId> acknowledged() const;
    // The coordinator's keys that hang on a lease, and would go with it.
    [[nodiscard]] std::vector<net::EtcdPair> leased() const;

    // One line each: values that cannot be parsed.
    [[nodiscard]] std::vector<std::string> take_remarks();

private:
    struct Record {
        port::DecisionRecord record;
        std::int64_t created_at = 0;  // the revision of the decision that it was written with
    };
    void put(const net::EtcdPair& pair);
    void erase(const std::string& key);
    void put_record(const net::EtcdPair& pair);
    [[nodiscard]] std::optional<std::int64_t> number(const std::string& key) const;
    void remark(const net::EtcdPair& pair, const std::string& what);
    [[nodiscard]] bool is_plain(const std::string& key) const;

    EtcdKeys keys_;
    std::int64_t as_of_ = 0;
    std::map<std::string, net::EtcdPair> plain_;  // by key: counts, ids, the leader
    std::map<std::string, Record> records_;
    std::map<std::string, std::string> remarked_;  // by key: the value
    std::vector<std::string> remarks_;
};

// The decimal of an id or a count; nothing when it is none.
[[nodiscard]] std::optional<std::int64_t> parse_etcd_number(std::string_view text);

// The value of a record's key, without `why` where it is longer than `bytes_max` with it.
[[nodiscard]] std::string etcd_record_value(const port::DecisionRecord& record, std::size_t bytes_max);

}  // namespace dynaplan::connector
