// What the sources of a live planner need from a configuration: which bus, which addresses, whom discovery
// looks for. Checked before anything is opened.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_app.hpp"
#include "bus/broker_plane.hpp"
#include "bus/engine_hop.hpp"
#include "bus/event_plane.hpp"
#include "bus/nats_adapter.hpp"
#include "core/result.hpp"
#include "discovery/scope.hpp"
#include "discovery/static_list.hpp"

namespace dynaplan::app {

enum class BusKind : std::uint8_t {
    engine_hop,    // ZeroMQ, three frames: the engines themselves
    event_direct,  // ZeroMQ, four frames: each publisher of the event plane
    event_broker,  // ZeroMQ, four frames, through brokers
    nats,
};
BusKind bus_kind(const AppConfig&);
std::string_view to_string(BusKind);  // for people: "zmq engine", "zmq event", "zmq broker", "nats"
std::string_view discovery_word(DiscoveryBackend);

// Everything about bus and discovery that cannot work, one line each with the remedy.
std::vector<std::string> source_problems(const AppConfig&);

// The rest is to be asked after source_problems() found nothing.
std::vector<bus::HopEndpoint> hop_endpoints(const AppConfig&);
std::vector<bus::EventEndpoint> event_endpoints(const AppConfig&);
// The xpub addresses of bus.broker; empty where discovery has to find them.
Result<std::vector<std::string>> broker_urls(const AppConfig&);
Result<bus::BrokerOptions> broker_options(const AppConfig&, const std::vector<std::string>& xpub_urls);
Result<bus::NatsPlane> nats_plane(const AppConfig&);
Result<discovery::Scope> discovery_scope(const AppConfig&);
std::string discovery_root(const AppConfig&);  // of the file backend
std::vector<discovery::StaticWorker> static_workers(const AppConfig&);

}  // namespace dynaplan::app
