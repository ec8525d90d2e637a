// The decision store over the small etcd, for the coordinator of the vectors: what the keys say and how a
// decision is written are the connector's own (EtcdPicture, make_etcd_commit); only the network is left out,
// so that each call is answered at once.
#pragma once

#include <optional>

#include "check_vectors/etcd_in_memory.hpp"
#include "connector/etcd_keys.hpp"
#include "connector/etcd_picture.hpp"
#include "port/decision_store.hpp"

namespace dynaplan::check_vectors {

class EtcdKeysStore final : public port::DecisionStore {
public:
    // The etcd must outlive the store.
    EtcdKeysStore(EtcdInMemory& etcd, const connector::EtcdKeys& keys)
        : etcd_{etcd}, keys_{keys}, picture_{keys} {}

    [[nodiscard]] std::optional<port::ReadAnswer> read() override;
    [[nodiscard]] std::optional<port::CommitAnswer> commit(const port::Transaction& wanted) override;

    // What a watch would bring. Gives the state that the coordinator is to observe.
    [[nodiscard]] port::StoredState watched(const EtcdInMemory::Change& change);

private:
    EtcdInMemory& etcd_;
    connector::EtcdKeys keys_;
    connector::EtcdPicture picture_;
};

}  // namespace dynaplan::check_vectors
