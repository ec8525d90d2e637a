// Decisions on the keys that existing schedulers of Dynamo's virtual connector use (specification, connectors
// 1.1 and 1.6, V-11): num_prefill_workers, num_decode_workers, decision_id, and scaled_decision_id, which is
// the acknowledgement.
//
// The keys hold the newest decision only, without its reason, and know no failure: a decision that could not
// be carried out stays open until the planner's time-out. An acknowledgement is written without a lease, so
// that it outlives us, never lowers the number that is there, and never names a decision that was not
// published.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/command_decisions_source.hpp"
#include "core/result.hpp"
#include "net/etcd_options.hpp"

namespace dynaplan::app {

struct EtcdPlace {
    net::EtcdOptions options;
    std::string name_space = "dynamo";
};

// Fails for endpoints or certificates that cannot be used.
Result<std::unique_ptr<DecisionSource>> open_etcd_source(boost::asio::io_context&, const EtcdPlace&);

}  // namespace dynaplan::app
