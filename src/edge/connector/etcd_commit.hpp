// A transaction of the decision store as etcd is asked for it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "connector/etcd_keys.hpp"
#include "connector/etcd_picture.hpp"
#include "core/result.hpp"
#include "net/etcd_message.hpp"
#include "port/decision_store.hpp"

namespace dynaplan::connector {

struct EtcdCommit {
    net::EtcdTransaction transaction;  // its failure branch lists everything
    std::size_t records_cut = 0;       // kept without their `why`
};

// `known` is the newest picture there is: the acknowledgement is raised only as long as it stands as shown
// there. Fails where etcd would refuse the size of it.
Result<EtcdCommit> make_etcd_commit(const port::Transaction& wanted, const EtcdKeys& keys,
                                    const EtcdPicture& known, const std::optional<net::EtcdCompare>& fence,
                                    std::size_t record_bytes_max);

// Puts the coordinator's keys that hang on a lease again without it, as long as they are what `known` shows;
// both branches list everything.
net::EtcdTransaction make_etcd_detachment(const EtcdKeys& keys, const EtcdPicture& known,
                                          const std::optional<net::EtcdCompare>& fence);

}  // namespace dynaplan::connector
