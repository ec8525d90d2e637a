// Decisions kept in etcd, under the keys that existing clients read and write (proto/decisions-etcd.md): each
// decision is one transaction, guarded by the revision at which `decision_id` was last written, so a reader
// never sees half of one and of two writers one is told.
//
// Beside those keys, in the same transaction, stands a record of each decision (reason, time, state, why).
//
// Promises. Keys have no lease; those that are found with one (a reference coordinator left them) have it
// taken off by the next read, so that they do not vanish later. An acknowledgement is what
// `scaled_decision_id` says now; it is raised and never lowered. With a fence, a transaction also compares
// the leader key, so that the store itself refuses what an old leader sends late.
//
// Answers later, through the callbacks, each call once: `failed` where nothing was carried out, `unknown`
// where the answer was lost. trouble() says why in one line. A watch tells what others changed: on_observed,
// never older than the last answer, and never while a call is under way. While stale() the watch is broken:
// what the coordinator knows may be old, and has to be read before it is used.
//
// The loop's thread only; the client must outlive it. Callbacks come from the loop. When it is destroyed (a
// callback may do so) no callback comes any more.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/etcd_client.hpp"
#include "net/etcd_watch.hpp"
#include "port/decision_store.hpp"

namespace dynaplan::connector {

struct EtcdStoreOptions {
    std::string name_space = "dynamo";         // Dynamo's; taken as it is
    std::size_t record_bytes_max = 8U << 10U;  // a record that is longer is kept without its `why`
    net::EtcdWatchOptions watch{.span = {}};   // the span is the store's own
    // What the leader key must be for a write, and nothing while we do not lead. Empty: there is no leader,
    // anyone writes.
    std::function<std::optional<net::EtcdCompare>()> fence{};
};

struct EtcdStoreCounts {
    std::uint64_t commits = 0;    // asked for
    std::uint64_t conflicts = 0;  // somebody else had decided
    std::uint64_t failed = 0;
    std::uint64_t unknown = 0;                  // answers that were lost
    std::uint64_t fenced = 0;                   // refused by the store because another leads
    std::uint64_t observed = 0;                 // states that the watch told
    std::uint64_t detached = 0;                 // keys that a lease was taken off
    std::uint64_t records_cut = 0;              // kept without their `why`
    std::uint64_t future_acknowledgements = 0;  // of an id that has not been published
};

class EtcdStore final : public port::DecisionStore {
public:
    struct Callbacks {
        std::function<void(const port::ReadAnswer&)> on_read;
        std::function<void(const port::CommitAnswer&)> on_commit;
        std::function<void(const port::StoredState&)> on_observed;
        // The watch is broken, and why; or, with an empty text, it stands.
        std::function<void(const std::string& why)> on_watch;
        // The store refused a write because another leads.
        std::function<void()> on_fenced;
    };

    // `random` gives a number in [0, 1), for the spread of the watch's delays.
    EtcdStore(boost::asio::io_context& loop, net::EtcdClient& client, EtcdStoreOptions options,
              std::function<double()> random, Callbacks callbacks);
    ~EtcdStore() override;

    // Begins to watch.
    void start();
    [[nodiscard]] bool stale() const;

    [[nodiscard]] std::optional<port::ReadAnswer> read() override;
    [[nodiscard]] std::optional<port::CommitAnswer> commit(const port::Transaction&) override;

    // The newest state that an answer or the watch has brought: for a process that stands by.
    [[nodiscard]] port::StoredState seen() const;
    [[nodiscard]] const std::string& trouble() const;
    // What is to be logged since the last call, one line each.
    [[nodiscard]] std::vector<std::string> take_remarks();
    [[nodiscard]] const EtcdStoreCounts& counts() const;
    [[nodiscard]] const net::EtcdWatchCounts& watch_counts() const;

private:
    class Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::connector
