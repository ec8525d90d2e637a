// The HTTP API of DESIGN 6 on the project's server: decisions with long poll, acknowledgement, inventory,
// state, health. proto/decisions-api.yaml (OpenAPI) is its contract.
//
// Reading is open; mutating calls pass net::Access first. Everything runs on the loop's thread; a client that
// waits costs an entry in a bounded list.
#pragma once

#include <functional>
#include <string>

#include "net/access.hpp"
#include "net/router.hpp"
#include "port/bus_counts.hpp"
#include "port/journal.hpp"
#include "runtime/service.hpp"
#include "runtime/state_json.hpp"
#include "runtime/waiters.hpp"

namespace dynaplan::runtime {

class Api {
public:
    struct Parts {
        Service& service;
        net::Access& access;
        const Surroundings& around;
        const port::BusCounts& bus;
        const port::Journal& journal;
        std::function<std::string()> metrics;  // the text of /metrics
    };
    explicit Api(Parts);

    void handle(net::HttpRequest, net::Reply);
    // For a listener that is open to all: /metrics, /healthz and /readyz, nothing else.
    void handle_health(net::HttpRequest request, net::Reply reply) {
        health_router_.route(std::move(request), std::move(reply));
    }
    // After the service changed: answers who waited for a decision.
    void published();
    // Answers who has waited for as long as he wanted.
    void expire() { waiters_.expire(parts_.service.now()); }
    [[nodiscard]] std::optional<TimePoint> next_expiry() const { return waiters_.next_expiry(); }
    [[nodiscard]] std::size_t waiting() const { return waiters_.size(); }

private:
    void next_decision(const net::HttpRequest&, net::Reply);
    void list_decisions(net::Reply);
    void show_decision(const std::string& id, net::Reply);
    void settle(const std::string& id, bool completed, net::Reply);
    void put_inventory(const net::HttpRequest&, net::Reply);
    void ready(net::Reply);
    void add_health(net::Router&);

    Parts parts_;
    net::Router router_;
    net::Router health_router_;
    Waiters waiters_;
    DecisionId newest_seen_ = -1;
};

}  // namespace dynaplan::runtime
