// Which workers there are and where they publish, by the records under a store's keys. A state machine
// without I/O: a backend hands over what it has seen, and it tells the core of engines that come and go, a
// bus of channels, and anybody who asks which role a worker has (event-plane specification 7, 8).
//
// Rules that both eras' readers need, and that a plain prefix watch gets wrong:
// - places are compared as paths: `backend2` is not `backend`, `generate2` is not `generate`;
// - a worker goes with its last card, whichever that is; cards of LoRA adapters count as no worker of their
//   own;
// - the id is the one in the key, since a delete shows nothing else;
// - a record that cannot be read is counted and skipped. Where an older one stood under its key that stays in
//   force: the key is still there, so the worker is.
//
// Additions and removals may be repeated. What a store cannot tell for a while (an outage) is the backend's
// to bridge: nothing leaves the roster by itself. The loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "discovery/channel_table.hpp"
#include "discovery/counts.hpp"
#include "discovery/scope.hpp"
#include "discovery/worker_table.hpp"
#include "port/workers.hpp"
#include "wire/discovery_key.hpp"
#include "wire/worker_cards.hpp"

namespace dynaplan::discovery {

struct KeyValue {
    std::string_view key;
    std::string_view value;
};

struct RosterOptions {
    Scope scope;
    // Fills what cards leave open. The core does so by itself from its configuration, for a role as a whole
    // and following its changes; these make the values each engine's own.
    PerRole<Capabilities> defaults;
    ChannelTable::OnBrokers on_brokers;
    // One line for the log: the first, second, fourth, eighth ... time that a cause is met, so that a broken
    // fleet does not flood it.
    std::function<void(const std::string&)> on_remark;
};

struct RosterState {
    PerRole<std::int64_t> workers;
    PerRole<std::int64_t> engines;     // their data-parallel ranks
    std::size_t channels = 0;          // publishers to connect to
    std::size_t brokers = 0;           // ZMQ brokers
    std::size_t nats_channels = 0;     // publishers that announce NATS
    std::vector<std::string> remarks;  // one line each, of what an operator should know now
};

class Roster final : public port::WorkerDirectory {
public:
    // Records of other places are remembered up to this many, to be named when nothing is found.
    static constexpr std::size_t elsewhere_most = 256;
    static constexpr std::size_t cards_most = 65'536;
    // etcd takes 1.5 MB a request by default; a card has some 10 kB.
    static constexpr std::size_t value_bytes_most = std::size_t{4} << 20U;

    // No channel sink: channels are counted only.
    Roster(RosterOptions options, port::EventSink& events, port::ChannelSink* channels);

    void put(std::string_view key, std::string_view value);
    void remove(std::string_view key);
    // Everything that is below `prefix` now (a path: `v1/mdc` or deeper). What was known there and is not
    // listed is gone; what replaces it joins before it leaves.
    void replace_all(std::string_view prefix, std::span<const KeyValue> listing);

    [[nodiscard]] std::optional<Role> role_of(std::string_view worker_id) const override {
        return workers_.role_of(worker_id);
    }
    [[nodiscard]] RosterState state() const;
    [[nodiscard]] const Counts& counts() const { return counts_; }
    [[nodiscard]] const Scope& scope() const { return options_.scope; }

private:
    enum class Kind : std::uint8_t { card, channel, elsewhere };

    void put_card(std::string_view key, std::string_view value, const wire::DiscoveryKey&);
    void put_channel(std::string_view key, std::string_view value, const wire::DiscoveryKey&);
    void forget(std::string_view key);
    void know(std::string_view key, Kind);
    void apply(const wire::WorkerChanges&);
    bool settle(std::uint64_t worker_id);
    void retry_left_out();
    void refuse(std::string_view cause, std::string_view key);
    [[nodiscard]] std::vector<std::string> remarks() const;

    RosterOptions options_;
    Counts counts_;
    WorkerTable workers_;
    ChannelTable channels_;
    wire::WorkerCards cards_;  // each with its role resolved, and numbers as they are believed
    std::map<std::string, Kind, std::less<>> known_;               // keys in use, and some elsewhere
    std::size_t elsewhere_ = 0;                                    // of the latter
    std::set<std::uint64_t> left_out_;                             // workers that were one too many
    std::map<std::string, std::string, std::less<>> last_remark_;  // by cause
};

}  // namespace dynaplan::discovery
