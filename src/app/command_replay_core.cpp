// Core scenario files (planner-core-scenario/1): golden traces of the reference's own rules, tick by tick.
#include "app/command_replay_job.hpp"

namespace dynaplan::app {

void replay_core_scenarios(ReplayJob& job) { (void)job; }

}  // namespace dynaplan::app
