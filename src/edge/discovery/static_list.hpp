// Workers as the configuration lists them: for fleets without a discovery store. They are there from the
// start to the end; whether they live shows in what they report.
//
// A worker with an id joins as an engine, with the capabilities that are given for it. One without is only an
// address to listen to; then nobody can tell by ids who belongs to the fleet, every engine that reports does,
// under its address's role. The loop's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/capabilities.hpp"
#include "core/result.hpp"
#include "core/role.hpp"
#include "discovery/worker_table.hpp"
#include "port/channels.hpp"
#include "port/event_sink.hpp"
#include "port/workers.hpp"

namespace dynaplan::discovery {

struct StaticWorker {
    Role role{};
    std::optional<std::string> worker_id;  // decimal text, as reports spell it
    std::optional<std::string> url;        // where it publishes
    std::int64_t rank_first = 0;           // data-parallel ranks
    std::int64_t rank_count = 1;
    Capabilities capabilities;
};

class StaticList {
public:
    // All problems of the list at once, each with the entry's number from 1. Fails for an empty list too.
    static Result<void> check(const std::vector<StaticWorker>&);

    // The list must have passed the check. Tells of all workers at once; no channel sink: addresses are for
    // somebody else.
    StaticList(const std::vector<StaticWorker>&, port::EventSink&, port::ChannelSink*);

    // Null where an id is missing: nobody may be refused by it then.
    [[nodiscard]] const port::WorkerDirectory* directory() const { return complete_ ? &table_ : nullptr; }
    [[nodiscard]] const PerRole<std::int64_t>& workers() const { return table_.workers(); }
    [[nodiscard]] const PerRole<std::int64_t>& engines() const { return table_.engines(); }

private:
    WorkerTable table_;
    bool complete_ = true;
};

}  // namespace dynaplan::discovery
