// Public data that the tests may use when it is there: DYNAPLAN_DATA, or ../shared/data beside the project.
// It is never part of the project; without it the suite is skipped.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dynaplan::data {

// The folder, or an empty path.
std::filesystem::path folder();
std::string text_of(const std::filesystem::path& below_folder);
// Rows of a comma-separated file without quotes, header first.
std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& below_folder);

}  // namespace dynaplan::data
