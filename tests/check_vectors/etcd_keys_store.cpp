#include "check_vectors/etcd_keys_store.hpp"

#include "connector/etcd_commit.hpp"
#include "connector/etcd_store.hpp"

namespace dynaplan::check_vectors {

using port::CommitAnswer;
using port::CommitResult;

std::optional<port::ReadAnswer> EtcdKeysStore::read() {
    picture_.replace(etcd_.list(net::etcd_prefix(keys_.all)));
    return port::ReadAnswer{picture_.state()};
}

std::optional<CommitAnswer> EtcdKeysStore::commit(const port::Transaction& wanted) {
    const auto made = connector::make_etcd_commit(wanted, keys_, picture_, std::nullopt,
                                                  connector::EtcdStoreOptions{}.record_bytes_max);
    const auto answer = made ? etcd_.transact(made->transaction) : std::nullopt;
    if (!answer) return CommitAnswer{CommitResult::failed, 0, std::nullopt};
    if (!answer->succeeded) {
        picture_.replace(answer->listings.at(0));
        return CommitAnswer{CommitResult::conflict, 0, picture_.state()};
    }
    const auto revision =
        wanted.current ? static_cast<std::uint64_t>(answer->revision) : wanted.expected_revision;
    return CommitAnswer{CommitResult::ok, revision, std::nullopt};
}

port::StoredState EtcdKeysStore::watched(const EtcdInMemory::Change& change) {
    picture_.apply(change.revision, change.events);
    return picture_.state();
}

}  // namespace dynaplan::check_vectors
