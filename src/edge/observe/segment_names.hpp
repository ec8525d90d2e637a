// The files of a journal folder: 000000000042.journal is segment 42, so that names sort in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace dynaplan::observe {

struct SegmentFile {
    std::uint64_t number = 0;
    std::uint64_t size = 0;  // bytes
    std::string path;
};

[[nodiscard]] std::string segment_name(std::uint64_t number);
// Of a segment while it is being made. Hidden, so that FOLDER/* does not meet it.
[[nodiscard]] std::string unfinished_name(std::uint64_t number);
// Empty for a name of another form.
[[nodiscard]] std::optional<std::uint64_t> segment_number(std::string_view name);
[[nodiscard]] bool is_unfinished(std::string_view name);

struct FolderContent {
    std::vector<SegmentFile> segments;    // by number
    std::vector<std::string> unfinished;  // paths of what a killed process left half made
};
// Other files are passed over; a folder that is not there is empty. Fails with the folder's name.
[[nodiscard]] Result<FolderContent> list_segments(const std::string& folder);

}  // namespace dynaplan::observe
