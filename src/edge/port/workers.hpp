// Which workers there are, as a discovery backend knows them. A bus asks before it hands a report on, so that
// a late message of a worker that has gone, or one of a stranger, does not bring an engine to life.
// The loop's thread.
#pragma once

#include <optional>
#include <string_view>

#include "core/role.hpp"

namespace dynaplan::port {

class WorkerDirectory {
public:
    WorkerDirectory() = default;
    virtual ~WorkerDirectory() = default;
    WorkerDirectory(const WorkerDirectory&) = delete;
    WorkerDirectory& operator=(const WorkerDirectory&) = delete;

    // The role of a worker that is alive; none for one that is not known. `worker_id` as reports spell it,
    // the decimal text of the instance id (event plane specification 7.4).
    [[nodiscard]] virtual std::optional<Role> role_of(std::string_view worker_id) const = 0;
};

}  // namespace dynaplan::port
