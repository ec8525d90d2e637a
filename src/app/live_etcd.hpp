// Decisions kept in etcd, written by the process whose lease stands there.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/config_app.hpp"
#include "app/live_store.hpp"
#include "core/result.hpp"
#include "net/etcd_options.hpp"

namespace dynaplan::app {

// Of the configuration's section; also for discovery and the client of decisions.
net::EtcdOptions etcd_options(const AppConfig&);

// A number in [0, 1), for the spread of delays, so that many processes do not come back at one moment.
double random_part();

// Fails for an endpoint or a certificate that cannot be used; a server that is away is waited for.
Result<std::unique_ptr<LiveStore>> make_etcd_store(boost::asio::io_context&, const AppConfig&,
                                                   const std::string& identity);

}  // namespace dynaplan::app
