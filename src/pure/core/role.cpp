#include "core/role.hpp"

namespace dynaplan {

std::string_view to_string(Role r) { return r == Role::prefill ? "prefill" : "decode"; }

std::string_view to_string(Mode m) {
    switch (m) {
        case Mode::disagg: return "disagg";
        case Mode::prefill: return "prefill";
        case Mode::decode: return "decode";
        case Mode::agg: return "agg";
    }
    return "?";
}

std::string_view to_string(OptimizationTarget t) {
    switch (t) {
        case OptimizationTarget::throughput: return "throughput";
        case OptimizationTarget::latency: return "latency";
        case OptimizationTarget::load: return "load";
        case OptimizationTarget::sla: return "sla";
    }
    return "?";
}

std::optional<Role> role_from(std::string_view name) {
    if (name == "prefill") return Role::prefill;
    if (name == "decode" || name == "agg") return Role::decode;
    return std::nullopt;
}

}  // namespace dynaplan
