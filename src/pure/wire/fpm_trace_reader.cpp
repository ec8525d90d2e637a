#include "wire/fpm_trace_reader.hpp"

#include <algorithm>
#include <optional>

#include "wire/trace_text_source.hpp"

namespace dynaplan::wire {

std::string_view to_string(TraceDamageKind kind) {
    switch (kind) {
        case TraceDamageKind::cut_member: return "cut_member";
        case TraceDamageKind::bad_member: return "bad_member";
        case TraceDamageKind::trailing_garbage: return "trailing_garbage";
        case TraceDamageKind::expansion_limit: return "expansion_limit";
        case TraceDamageKind::cut_line: return "cut_line";
    }
    return "unknown";
}

struct TraceReader::State {
    explicit State(const TraceReaderLimits& given) : limits{given}, source{given} {}

    Step next();
    std::optional<Step> complete_line(std::size_t end);
    std::optional<Step> last_line(bool usable);
    std::optional<Step> take(std::string_view line, bool has_end);
    Step refuse(TraceLineError why, std::string_view line);
    Step refuse_long_line();
    void drop_if_too_long();
    void forget_used_text();
    void keep_damage(TraceDamage found);

    TraceReaderLimits limits;
    TraceTextSource source;
    TraceLineParser parser;

    std::string text;                // not yet used from `start` on
    std::size_t start = 0;           // of the current line
    std::size_t searched = 0;        // no line end before this, from `start` on
    std::uint64_t text_offset = 0;   // of text[0] in the whole text
    bool skipping = false;           // inside a line that is too long
    std::uint64_t skipped_from = 0;  // where that line began

    TraceRecord record;
    std::string_view line_text;
    TraceLineError error;
    std::uint64_t line_number = 0;
    std::uint64_t line_offset = 0;
    TraceCounts counts;
    std::vector<TraceDamage> damage;
};

TraceReader::Step TraceReader::State::next() {
    using Got = TraceTextSource::Got;
    for (;;) {
        const std::size_t end = text.find('\n', searched);
        if (end != std::string::npos) {
            if (const auto step = complete_line(end)) return *step;
            continue;
        }
        searched = text.size();
        drop_if_too_long();
        forget_used_text();
        const Got got = source.read(text);
        if (const auto found = source.take_damage()) keep_damage(*found);
        switch (got) {
            case Got::text: break;
            case Got::need_more: return Step::need_more;
            case Got::end:
                if (const auto step = last_line(true)) return *step;
                return Step::end;
            case Got::line_ends:
            case Got::line_broken:
                if (const auto step = last_line(got == Got::line_ends)) return *step;
                break;
        }
    }
}

std::optional<TraceReader::Step> TraceReader::State::complete_line(std::size_t end) {
    const std::string_view line = std::string_view{text}.substr(start, end - start);
    line_offset = text_offset + start;
    start = end + 1;
    searched = start;
    if (skipping) return refuse_long_line();
    return take(line, true);
}

// What stands after the last line end when the text ends, or breaks.
std::optional<TraceReader::Step> TraceReader::State::last_line(bool usable) {
    const std::string_view line = std::string_view{text}.substr(start);
    line_offset = text_offset + start;
    start = text.size();
    searched = start;
    if (skipping) return refuse_long_line();
    if (line.empty()) return std::nullopt;
    if (usable) return take(line, false);
    counts.cut_text_bytes += line.size();
    return std::nullopt;
}

std::optional<TraceReader::Step> TraceReader::State::take(std::string_view line, bool has_end) {
    ++line_number;
    line_text = line;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
        ++counts.empty_lines;
        return std::nullopt;
    }
    if (line.size() > limits.line_bytes_max) {
        ++counts.lines;
        return refuse({TraceLineCause::too_long, {}}, {});
    }
    const TraceLineResult parsed = parser.parse(line, record);
    if (!parsed && parsed.error().cause == TraceLineCause::bad_json && !has_end) {
        counts.cut_text_bytes += line.size();
        keep_damage({TraceDamageKind::cut_line, line_offset});
        return std::nullopt;
    }
    ++counts.lines;
    if (parsed) {
        ++counts.records;
        return Step::record;
    }
    if (parsed.error().cause == TraceLineCause::other_line) {
        ++counts.other_lines;
        return Step::other;
    }
    return refuse(parsed.error(), line);
}

TraceReader::Step TraceReader::State::refuse(TraceLineError why, std::string_view line) {
    error = why;
    line_text = line;
    ++counts.refused[static_cast<std::size_t>(why.cause)];
    if (why.cause == TraceLineCause::bad_fpm) ++counts.refused_fpm[static_cast<std::size_t>(why.fpm)];
    return Step::refused;
}

TraceReader::Step TraceReader::State::refuse_long_line() {
    skipping = false;
    line_offset = skipped_from;
    ++line_number;
    ++counts.lines;
    return refuse({TraceLineCause::too_long, {}}, {});
}

void TraceReader::State::drop_if_too_long() {
    if (!skipping && text.size() - start > limits.line_bytes_max) {
        skipping = true;
        skipped_from = text_offset + start;
    }
    if (skipping) start = text.size();
}

void TraceReader::State::forget_used_text() {
    text.erase(0, start);
    text_offset += start;
    searched -= start;
    start = 0;
}

void TraceReader::State::keep_damage(TraceDamage found) {
    ++counts.damages;
    if (damage.size() < damages_kept) damage.push_back(found);
}

TraceReader::TraceReader(TraceReaderLimits limits) : state_{std::make_unique<State>(limits)} {}
TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

void TraceReader::feed(std::string_view bytes) { state_->source.feed(bytes); }
void TraceReader::finish() { state_->source.finish(); }
TraceReader::Step TraceReader::next() { return state_->next(); }
const TraceRecord& TraceReader::record() const { return state_->record; }
TraceRecord& TraceReader::record() { return state_->record; }
std::string_view TraceReader::text() const { return state_->line_text; }
TraceLineError TraceReader::error() const { return state_->error; }
std::uint64_t TraceReader::line_number() const { return state_->line_number; }
std::uint64_t TraceReader::line_offset() const { return state_->line_offset; }
const TraceCounts& TraceReader::counts() const { return state_->counts; }
const std::vector<TraceDamage>& TraceReader::damage() const { return state_->damage; }
bool TraceReader::compressed() const { return state_->source.compressed(); }

}  // namespace dynaplan::wire
