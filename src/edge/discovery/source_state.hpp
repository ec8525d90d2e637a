// How a discovery backend stands to its store, for /v1/state and the log.
#pragma once

#include <functional>
#include <string>

namespace dynaplan::discovery {

struct SourceState {
    bool complete = false;  // everything has been listed at least once since the start
    bool stale = true;      // what is known may be out of date; the last known workers are kept
    std::string reason;     // one line while it is stale: place, what is wrong
    bool operator==(const SourceState&) const = default;
};

using OnSourceState = std::function<void(const SourceState&)>;  // called when it changes

}  // namespace dynaplan::discovery
