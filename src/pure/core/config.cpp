#include "core/config.hpp"

namespace dynaplan {

PlannerConfig config_of(Preset preset) {
    PlannerConfig c;
    c.preset = preset;
    c.policy = policy_of(preset);
    if (preset == Preset::dynamo) {
        c.optimization_target = OptimizationTarget::throughput;
        c.enable_load_scaling = false;
        c.enable_throughput_scaling = true;
    }
    return c;
}

}  // namespace dynaplan
