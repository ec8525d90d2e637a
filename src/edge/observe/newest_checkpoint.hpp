// What a restart reads from a journal folder: the newest state that can be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"

namespace dynaplan::observe {

struct KeptCheckpoint {
    std::string path;  // of its segment
    std::uint64_t segment = 0;
    std::int64_t started_unix_ms = 0;  // wall clock when the segment began
    std::string program_version;
    std::string config_json;
    TimePoint at{};  // the planner's time
    std::string planner_state;
    std::string coordinator_state;
};

struct NewestCheckpoint {
    std::optional<KeptCheckpoint> found;  // absent: there is no segment, or none that can be read
    std::vector<std::string> remarks;     // of each segment that was passed over: its path, what is wrong
};

// From the newest segment to older ones. Fails, naming the folder, when it cannot be listed; one that is not
// there is empty. Whether a state can be loaded is for the core to say. Blocks; any thread.
[[nodiscard]] Result<NewestCheckpoint> newest_checkpoint(const std::string& folder);

}  // namespace dynaplan::observe
