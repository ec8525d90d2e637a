#include "replay/tape.hpp"

namespace dynaplan::replay {

void Tape::begin(const wire::JournalHeader& header, Session& session, TimePoint first) {
    writer_.append_header(bytes_, header);
    writer_.append_checkpoint(bytes_, first, session.save_planner(), session.save_coordinator());
}

void Tape::take(const Moment& moment) {
    writer_.append_event(bytes_, moment.event);
    for (const Effect& effect : moment.effects) writer_.append_effect(bytes_, effect);
}

}  // namespace dynaplan::replay
