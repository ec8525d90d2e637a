// The step protocol's input lines (proto/step.md): one JSON object per line <-> one Event. The journal keeps
// its rare events in the same form, and scenario files mix such lines with lines of their own.
//
// Reading is strict: an unknown key, a repeated key, a wrong type, a negative count and a missing required
// field are errors, each a one-line message that names the field, the reason and, for an unknown name, the
// nearest valid one. Null or absent means unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/event.hpp"
#include "core/result.hpp"
#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

// A line beyond this length is refused unread. The longest real one, an FPM, has about 600 bytes.
inline constexpr std::size_t step_line_bytes_max = std::size_t{1} << 20;

// What a line was. With `fpm_refused`, the line was well formed but its FPM is not to be used: the event is
// not to be fed, and the cause is to be counted.
struct StepLine {
    TimePoint at{};
    std::optional<FpmError> fpm_refused;  // wire/fpm_admit.hpp's rules included
};

// Reads lines one after the other. Keeps its buffers: a line that follows one of its kind allocates nothing
// when its texts fit into what `out` holds already. One thread at a time.
class StepLineParser {
public:
    StepLineParser();
    ~StepLineParser();
    StepLineParser(StepLineParser&&) noexcept;
    StepLineParser& operator=(StepLineParser&&) noexcept;

    // `line` with or without its newline; it need not be padded and is not kept. On an error, and with
    // `fpm_refused`, `out` holds something valid but meaningless.
    [[nodiscard]] Result<StepLine> parse(std::string_view line, Event& out);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Appends the event as one line, without newline, keys in the order of proto/step.md. Reading it back gives
// the same event, to the last bit of each double, for every event that may reach the core: its numbers
// finite, its texts valid UTF-8, and the duration of a known Traffic equal to the window. A known Traffic of
// 0 requests stays known.
void append_event_json(std::string& out, const Event&);

// What a line of a scenario file is, told by its first key alone. Everything else about the line is checked
// by whoever reads it.
enum class ScenarioLineKind : std::uint8_t {
    blank,   // nothing but white space
    why,     // {"why": text}
    config,  // {"config": {...}}
    expect,  // {"expect": {...}}
    event,   // any other line: StepLineParser says what is wrong with it, if anything
};
struct ScenarioLine {
    ScenarioLineKind kind{};
    // The whole line for an event, without white space around it; for the three others the raw JSON text of
    // the value. A line that does not end with its value and a brace is taken as an event, hence refused.
    std::string_view text;
};
[[nodiscard]] ScenarioLine scenario_line(std::string_view line);

}  // namespace dynaplan::wire
