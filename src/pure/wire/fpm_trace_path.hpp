// Names of FPM trace files (event-plane specification 11): {prefix}.{producer}.{index}.jsonl.gz.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dynaplan::wire {

// The path of one segment. Of `output_path` one trailing ".jsonl.gz" or ".jsonl" is cut; characters of the
// producer id outside A-Z a-z 0-9 - _ become '_', an empty id becomes "unknown"; the index has at least six
// digits.
std::string trace_segment_path(std::string_view output_path, std::string_view producer_id,
                               std::uint64_t index);

// What a path says when it is split at the index again. A name of another form (a plain .jsonl file, say) has
// no index.
struct TraceSegmentName {
    std::string_view
        stem;  // everything before ".{index}.jsonl.gz", prefix and producer; views the given path
    std::uint64_t index = 0;
    bool has_index = false;
};
TraceSegmentName split_segment_name(std::string_view path);

// Orders paths so that segments of one producer follow each other by index, also where indices have outgrown
// six digits: 999999 before 1000000. Names without an index are sorted as text, before segments of the same
// stem.
void sort_segment_paths(std::vector<std::string>& paths);

}  // namespace dynaplan::wire
