#include "core/event.hpp"

namespace dynaplan {

std::string_view to_string(OutcomeKind k) {
    switch (k) {
        case OutcomeKind::acknowledged: return "acknowledged";
        case OutcomeKind::failed: return "failed";
        case OutcomeKind::timed_out: return "timed_out";
        case OutcomeKind::superseded: return "superseded";
    }
    return "?";
}

std::string_view to_string(Refusal r) {
    switch (r) {
        case Refusal::unchanged: return "unchanged";
        case Refusal::not_ready: return "not_ready";
        case Refusal::conflict: return "conflict";
        case Refusal::store: return "store";
    }
    return "?";
}

std::string_view to_string(DecisionState s) {
    switch (s) {
        case DecisionState::published: return "published";
        case DecisionState::acknowledged: return "acknowledged";
        case DecisionState::failed: return "failed";
        case DecisionState::timed_out: return "timed_out";
        case DecisionState::superseded: return "superseded";
    }
    return "?";
}

}  // namespace dynaplan
