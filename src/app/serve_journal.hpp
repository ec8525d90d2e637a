// The journal of `serve`, and the state that the last life left in it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/config_load.hpp"
#include "core/result.hpp"
#include "observe/journal_folder.hpp"
#include "plan/planner.hpp"
#include "runtime/service.hpp"

namespace dynaplan::app {

struct RestoredPlanner {
    plan::Planner planner;
    TimePoint at{};                    // the last time that it has seen
    std::vector<std::string> remarks;  // for the log
};

// The state as the journal leaves it: the newest checkpoint and every event after it. Without a journal, or
// with one that cannot be used or is of another deployment, a new planner; the remarks say why.
RestoredPlanner restore_planner(const AppConfig&);

// Null where the configuration wants none. `service` must live as long as the journal; `post` runs a task on
// the loop.
Result<std::unique_ptr<observe::JournalFolder>> open_journal(const LoadedConfig&, runtime::Service& service,
                                                             std::function<void(std::function<void()>)> post);

}  // namespace dynaplan::app
