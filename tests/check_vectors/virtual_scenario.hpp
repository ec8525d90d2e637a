// One scenario of the virtual connector: a coordinator and the unmodified upstream client on a small etcd,
// with a clock that only the steps move. Each operation answers what the step may expect of it; what the
// format does not say throws, with the reason.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "check_vectors/etcd_in_memory.hpp"
#include "check_vectors/etcd_keys_store.hpp"
#include "connector/etcd_keys.hpp"
#include "decision/coordinator.hpp"
#include "decision/wanted_counts.hpp"

namespace dynaplan::check_vectors {

class VirtualScenario {
public:
    using Json = nlohmann::json;

    explicit VirtualScenario(const Json& initial_etcd);

    // Carries out a step. The answer holds every member that its `then` may name.
    Json run(const Json& step);

    // The members of a step of this operation beside `op`; nothing for an unknown operation.
    [[nodiscard]] static const std::vector<std::string>* members_of(const std::string& operation);

private:
    struct Operation {
        std::vector<std::string> members;
        Json (VirtualScenario::*run)(const Json& step);
    };
    static const std::map<std::string, Operation>& operations();

    // The planner's process: it lives from `start` to its crash.
    struct Process {
        Process(EtcdInMemory& etcd, const connector::EtcdKeys& keys);
        EtcdKeysStore store;
        decision::Coordinator coordinator;
        bool watching = true;
    };
    // A write that a wait has announced.
    struct Later {
        TimePoint at{};
        net::EtcdPut put;
    };

    Json start(const Json& step);
    Json crash(const Json& step);
    Json end_coordinator_lease(const Json& step);
    Json set(const Json& step);
    Json add(const Json& step);
    Json remove(const Json& step);
    Json wait(const Json& step);
    Json advance(const Json& step);
    Json fail_write(const Json& step);
    Json watch_down(const Json& step);
    Json raw_put(const Json& step);
    Json client_get(const Json& step);
    Json client_complete(const Json& step);
    Json end_client_lease(const Json& step);

    Process& process();
    Json propose(const decision::WantedCounts& wanted);
    Json change_by_one(const Json& step,
                       decision::WantedCounts (*change)(Role, std::optional<Replicas>, Replicas));
    [[nodiscard]] std::string key_of(const Json& name) const;
    [[nodiscard]] std::int64_t wall_ms() const;
    void write_due();
    // Readers and, while it watches, the coordinator see what has changed.
    void deliver();
    [[nodiscard]] Json read_state() const;
    // The keys and values by their short names, as a reader sees them.
    [[nodiscard]] Json visible() const;

    connector::EtcdKeys keys_{"demo"};  // the namespace of the format
    std::string root_;
    EtcdInMemory etcd_;
    std::unique_ptr<Process> process_;
    TimePoint now_{};
    std::vector<Later> later_;         // in the order of their times
    std::optional<std::int64_t> got_;  // the number of the last client_get
    ProposalId proposals_ = 0;
    std::map<std::string, std::string> seen_;  // the newest state a reader has seen
    std::set<std::map<std::string, std::string>> states_;
};

}  // namespace dynaplan::check_vectors
