// A decision on standard output: a line of JSON, or a line to read on a terminal.
#pragma once

#include <string>

#include "app/command_decisions_source.hpp"

namespace dynaplan::app {

// "decision 7 published: prefill 2, decode 5 (scale_up), 2026-11-30T04:12:05.250Z"
[[nodiscard]] std::string readable(const SeenDecision&);

// Whether standard output takes JSON: asked for, or not a terminal.
[[nodiscard]] bool writes_json(bool asked_for);

// Writes the line and flushes, so that a reader of a pipe has it at once. False when it cannot be written.
[[nodiscard]] bool print(const SeenDecision&, bool as_json);

// One line on standard error: "decisions: ...".
void say(const std::string& what);

}  // namespace dynaplan::app
