#include "app/command_decisions_text.hpp"

#include <cstdio>

#include <unistd.h>

namespace dynaplan::app {

namespace {

// What came over the network must not move a terminal's cursor.
std::string harmless(const std::string& text) {
    std::string out;
    for (const char c : text) out += (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) ? '?' : c;
    return out;
}

}  // namespace

std::string readable(const SeenDecision& decision) {
    std::string counts;
    const auto add = [&counts](const char* role, const std::optional<std::int64_t>& n) {
        if (!n) return;
        counts += counts.empty() ? ": " : ", ";
        counts += role;
        counts += ' ' + std::to_string(*n);
    };
    add("prefill", decision.prefill);
    add("decode", decision.decode);
    std::string line = "decision " + std::to_string(decision.id) + ' ' +
                       (decision.state.empty() ? "over long ago" : harmless(decision.state)) + counts;
    if (!decision.reason.empty()) line += " (" + harmless(decision.reason) + ')';
    if (!decision.published_at.empty()) line += ", " + harmless(decision.published_at);
    return line;
}

bool writes_json(bool asked_for) { return asked_for || ::isatty(STDOUT_FILENO) != 1; }

bool print(const SeenDecision& decision, bool as_json) {
    const std::string line = (as_json ? decision.json : readable(decision)) + '\n';
    return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
}

void say(const std::string& what) { std::fprintf(stderr, "decisions: %s\n", harmless(what).c_str()); }

}  // namespace dynaplan::app
