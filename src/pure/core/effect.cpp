#include "core/effect.hpp"

namespace dynaplan {

std::string_view to_string(ClampStage s) {
    switch (s) {
        case ClampStage::step: return "step";
        case ClampStage::guard: return "guard";
        case ClampStage::minimum: return "minimum";
        case ClampStage::floor: return "floor";
        case ClampStage::budget: return "budget";
    }
    return "?";
}

}  // namespace dynaplan
