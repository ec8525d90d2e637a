#include "observe/segment_names.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace dynaplan::observe {

namespace {

// A segment an hour would need a hundred million years to outgrow it.
constexpr std::size_t number_digits = 12;
constexpr std::string_view suffix = ".journal";
constexpr std::string_view unfinished_suffix = ".journal.new";

}  // namespace

std::string segment_name(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    std::string name(number_digits - std::min(number_digits, digits.size()), '0');
    name += digits;
    name += suffix;
    return name;
}

std::string unfinished_name(std::uint64_t number) { return "." + segment_name(number) + ".new"; }

std::optional<std::uint64_t> segment_number(std::string_view name) {
    if (name.size() != number_digits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
    std::uint64_t number = 0;
    const char* end = name.data() + number_digits;
    const auto [stopped, error] = std::from_chars(name.data(), end, number);
    return error == std::errc{} && stopped == end ? std::optional{number} : std::nullopt;
}

bool is_unfinished(std::string_view name) {
    return name.size() == 1 + number_digits + unfinished_suffix.size() && name.front() == '.' &&
           name.ends_with(unfinished_suffix);
}

Result<FolderContent> list_segments(const std::string& folder) {
    namespace fs = std::filesystem;
    FolderContent content;
    std::error_code error;
    fs::directory_iterator at{folder, error};
    if (error == std::errc::no_such_file_or_directory) return content;
    while (!error && at != fs::directory_iterator{}) {
        const std::string name = at->path().filename().string();
        if (const auto number = segment_number(name)) {
            std::error_code gone;  // deleted meanwhile, or no regular file
            const auto size = fs::file_size(at->path(), gone);
            if (!gone) content.segments.push_back({*number, size, at->path().string()});
        } else if (is_unfinished(name)) {
            content.unfinished.push_back(at->path().string());
        }
        at.increment(error);
    }
    if (error) return failure(folder + ": " + error.message());
    std::sort(content.segments.begin(), content.segments.end(),
              [](const SegmentFile& a, const SegmentFile& b) { return a.number < b.number; });
    return content;
}

}  // namespace dynaplan::observe
