// Writes what a Session saw and said as one journal segment, so that the run can be replayed and verified.
// Only bytes: whoever owns the file takes them away.
#pragma once

#include <string>
#include <string_view>

#include "replay/session.hpp"
#include "wire/journal_writer.hpp"

namespace dynaplan::replay {

class Tape {
public:
    // Header and checkpoint. The session has not been fed anything yet.
    void begin(const wire::JournalHeader&, Session&, TimePoint first);
    void quiet_pass(const Event& event) { writer_.append_event(bytes_, event); }
    void take(const Moment&);

    [[nodiscard]] std::string& bytes() { return bytes_; }  // cleared by the caller once written

private:
    wire::JournalWriter writer_;
    std::string bytes_;
};

}  // namespace dynaplan::replay
