#include "wire/fpm_trace_path.hpp"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace dynaplan::wire {

namespace {

constexpr std::string_view gz_suffix = ".jsonl.gz";
constexpr std::string_view plain_suffix = ".jsonl";
constexpr std::size_t index_digits_min = 6;

// At most one of the two is cut.
std::string_view without_suffix(std::string_view path) {
    for (const std::string_view suffix : {gz_suffix, plain_suffix}) {
        if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
    }
    return path;
}

bool stays_in_producer(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// '_' replaces a character, not a byte: the continuation bytes of UTF-8 vanish.
bool continues_a_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

}  // namespace

std::string trace_segment_path(std::string_view output_path, std::string_view producer_id,
                               std::uint64_t index) {
    std::string path{without_suffix(output_path)};
    path += '.';
    if (producer_id.empty()) path += "unknown";
    for (const char c : producer_id) {
        if (continues_a_character(c)) continue;
        path += stays_in_producer(c) ? c : '_';
    }
    const std::string digits = std::to_string(index);
    path += '.';
    if (digits.size() < index_digits_min) path.append(index_digits_min - digits.size(), '0');
    path += digits;
    path += gz_suffix;
    return path;
}

TraceSegmentName split_segment_name(std::string_view path) {
    TraceSegmentName name;
    const std::string_view body = without_suffix(path);
    name.stem = body;
    const std::size_t dot = body.rfind('.');
    if (body.size() == path.size() || dot == std::string_view::npos) return name;
    const std::string_view digits = body.substr(dot + 1);
    if (digits.size() < index_digits_min) return name;
    std::uint64_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc{} || end != digits.data() + digits.size()) return name;
    name.stem = body.substr(0, dot);
    name.index = index;
    name.has_index = true;
    return name;
}

void sort_segment_paths(std::vector<std::string>& paths) {
    std::sort(paths.begin(), paths.end(), [](const std::string& a, const std::string& b) {
        const TraceSegmentName x = split_segment_name(a);
        const TraceSegmentName y = split_segment_name(b);
        return std::tie(x.stem, x.has_index, x.index, a) < std::tie(y.stem, y.has_index, y.index, b);
    });
}

}  // namespace dynaplan::wire
