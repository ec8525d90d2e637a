#include <algorithm>
#include <numeric>

#include "fuzz/targets.hpp"
#include "wire/fpm_trace_reader.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

// Small bounds, so that a small input reaches them.
constexpr TraceReaderLimits limits{4096, 200, std::uint64_t{1} << 18U};

std::string told(std::string_view bytes, std::size_t piece, std::string& problem) {
    std::string story;
    TraceReader reader{limits};
    for (;;) {
        const TraceReader::Step step = reader.next();
        if (step == TraceReader::Step::end) break;
        if (step == TraceReader::Step::need_more) {
            if (bytes.empty()) reader.finish();
            reader.feed(bytes.substr(0, piece));
            bytes.remove_prefix(std::min(piece, bytes.size()));
            continue;
        }
        story += std::to_string(reader.line_number()) + '@' + std::to_string(reader.line_offset()) + ' ';
        if (step == TraceReader::Step::record) append_trace_line(story, reader.record());
        if (step == TraceReader::Step::other) story.append(reader.text()).append("\n");
        if (step == TraceReader::Step::refused) story.append(describe(reader.error())).append("\n");
    }
    const TraceCounts& counts = reader.counts();
    const std::uint64_t refused =
        std::accumulate(counts.refused.begin(), counts.refused.end(), std::uint64_t{0});
    if (counts.lines != counts.records + counts.other_lines + refused) problem = "the counts do not add up";
    for (const TraceDamage& damage : reader.damage()) {
        story.append(to_string(damage.kind)).append("@").append(std::to_string(damage.offset)).append("\n");
    }
    return story + std::to_string(counts.empty_lines) + ' ' + std::to_string(counts.cut_text_bytes);
}

}  // namespace

std::string try_trace(std::string_view bytes) {
    std::string problem;
    const std::string whole = told(bytes, bytes.size() + 1, problem);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{97}}) {
        const std::string in_pieces = told(bytes, piece, problem);
        // Where exactly a bomb is stopped depends on how much of it is unpacked at a time.
        if ((whole + in_pieces).find("expansion_limit") != std::string::npos) continue;
        if (in_pieces != whole)
            return "in pieces of " + std::to_string(piece) + ":\n" + in_pieces + "\nwhole:\n" + whole;
    }
    return problem;
}

}  // namespace dynaplan::fuzz
