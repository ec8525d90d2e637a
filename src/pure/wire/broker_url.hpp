// Where the brokers of ZeroMQ's broker mode are, as DYN_ZMQ_BROKER_URL says it (event-plane
// specification 5.4):
//
//     xsub=<url>[;<url>...] , xpub=<url>[;<url>...]
//
// Publishers connect to every xsub address, subscribers to every xpub address. Pure text: no address is
// tried. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace dynaplan::wire {

struct BrokerUrl {
    std::vector<std::string> xsub;  // neither list is empty
    std::vector<std::string> xpub;
    bool operator==(const BrokerUrl&) const = default;
};

// The two parts may come in either order, with blanks around parts and addresses; empty addresses are left
// out. Fails for any other number of parts, another name than these two, and a list without an address. A
// variable that is set but empty is such a failure: it is no way to say "no broker".
Result<BrokerUrl> parse_broker_url(std::string_view text);

}  // namespace dynaplan::wire
