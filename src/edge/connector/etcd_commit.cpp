#include "connector/etcd_commit.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace dynaplan::connector {

namespace {

using net::EtcdCompare;
using net::EtcdField;
using net::EtcdPut;
using net::EtcdRead;
using port::DecisionRecord;

// Of a request's bytes beside keys and values: what frames each operation, and then some.
constexpr std::size_t frame_bytes = 64;

EtcdCompare written_at(const std::string& key, std::int64_t revision) {
    return {.key = key, .field = EtcdField::mod_revision, .number = revision};
}

}  // namespace

Result<EtcdCommit> make_etcd_commit(const port::Transaction& wanted, const EtcdKeys& keys,
                                    const EtcdPicture& known, const std::optional<EtcdCompare>& fence,
                                    std::size_t record_bytes_max) {
    EtcdCommit out;
    net::EtcdTransaction& t = out.transaction;
    t.compare.push_back(written_at(keys.current, static_cast<std::int64_t>(wanted.expected_revision)));
    if (fence) t.compare.push_back(*fence);
    t.failure.emplace_back(EtcdRead{net::etcd_prefix(keys.all)});
    std::size_t bytes = 0;
    const auto put = [&](const std::string& key, std::string value) {
        bytes += key.size() + value.size() + frame_bytes;
        t.success.emplace_back(EtcdPut{key, std::move(value)});
    };

    // A transaction may put a key once only.
    std::map<DecisionId, DecisionRecord> records;
    for (const DecisionRecord& record : wanted.put) records[record.decision_id] = record;
    if (wanted.current) {
        if (wanted.prefill) put(keys.prefill, std::to_string(wanted.prefill->count()));
        if (wanted.decode) put(keys.decode, std::to_string(wanted.decode->count()));
        put(keys.current, std::to_string(*wanted.current));
        // A client acknowledged the decision before by its own key, which may go with the client: from now on
        // the record says it.
        const port::StoredState before = known.state();
        if (before.revision == wanted.expected_revision && !before.records.empty()) {
            DecisionRecord record = before.records.back();
            const bool done = record.decision_id == before.current &&
                              record.state == DecisionState::published &&
                              before.acknowledged.value_or(-1) >= record.decision_id;
            record.state = DecisionState::acknowledged;
            if (done) records.emplace(record.decision_id, std::move(record));
        }
    }
    if (wanted.acknowledged && known.acknowledged().value_or(-1) < *wanted.acknowledged) {
        t.compare.push_back(written_at(keys.acknowledged, known.written_at(keys.acknowledged)));
        put(keys.acknowledged, std::to_string(*wanted.acknowledged));
    }
    for (const auto& [id, record] : records) {
        if (id < wanted.drop_below || id < 0) continue;
        std::string value = etcd_record_value(record, record_bytes_max);
        if (!record.why_json.empty() && value == etcd_record_value(record, 0)) ++out.records_cut;
        put(keys.record(id), std::move(value));
    }
    if (wanted.drop_below > 0)
        t.success.emplace_back(net::EtcdDelete{{keys.record(0), keys.record(wanted.drop_below)}});

    if (t.success.size() > net::etcd_operations_max)
        return failure("etcd: a transaction of " + std::to_string(t.success.size()) +
                       " operations is more than its " + std::to_string(net::etcd_operations_max));
    if (bytes > net::etcd_request_max)
        return failure("etcd: a transaction of " + std::to_string(bytes) + " bytes is more than its " +
                       std::to_string(net::etcd_request_max));
    return out;
}

net::EtcdTransaction make_etcd_detachment(const EtcdKeys& keys, const EtcdPicture& known,
                                          const std::optional<EtcdCompare>& fence) {
    net::EtcdTransaction t;
    t.compare.push_back(written_at(keys.current, known.written_at(keys.current)));
    if (fence) t.compare.push_back(*fence);
    for (const net::EtcdPair& pair : known.leased()) {
        if (pair.key != keys.current) t.compare.push_back(written_at(pair.key, pair.mod_revision));
        t.success.emplace_back(EtcdPut{pair.key, pair.value});
    }
    t.success.emplace_back(EtcdRead{net::etcd_prefix(keys.all)});
    t.failure.emplace_back(EtcdRead{net::etcd_prefix(keys.all)});
    return t;
}

}  // namespace dynaplan::connector
