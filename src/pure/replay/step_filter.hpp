// The step protocol (proto/step.md): lines in, lines out. Each input line is answered with the effects that
// it caused, an error where it could not be taken, and a `done` line. Holds no file and knows no terminal:
// bytes come in pieces of any size, answers are appended to a string.
//
// Blank lines are skipped. Memory is bounded: a line beyond wire::step_line_bytes_max is thrown away unread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.hpp"
#include "core/event.hpp"
#include "decision/coordinator.hpp"
#include "replay/refusals.hpp"
#include "replay/session.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::replay {

class StepFilter {
public:
    explicit StepFilter(const PlannerConfig&, decision::CoordinatorConfig = {});

    void take(std::string_view bytes, std::string& out);
    void finish(std::string& out);  // a last line without its newline counts

    // One line, without its newline.
    void take_line(std::string_view line, std::string& out);

    [[nodiscard]] std::uint64_t lines() const { return lines_; }
    [[nodiscard]] const Refusals& refusals() const { return refusals_; }
    [[nodiscard]] Session& session() { return session_; }

private:
    void answer(std::string& out);
    void refuse(std::string_view cause, std::string_view message, std::string& out);
    void done(TimePoint at, std::string& out);

    Session session_;
    wire::StepLineParser parser_;
    Event event_;
    std::vector<Moment> moments_;
    bool started_ = false;
    std::uint64_t lines_ = 0;
    std::uint64_t place_ = 0;  // line number, blank lines counted
    std::string partial_;      // the beginning of a line whose end has not come
    bool too_long_ = false;    // its bytes are thrown away
    Refusals refusals_;
};

}  // namespace dynaplan::replay
