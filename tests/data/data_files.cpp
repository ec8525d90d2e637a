#include "data_files.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace dynaplan::data {

std::filesystem::path folder() {
    const char* given = std::getenv("DYNAPLAN_DATA");
    std::filesystem::path path = given != nullptr && *given != '\0' ? given : DYNAPLAN_DATA_DEFAULT;
    std::error_code none;
    return std::filesystem::is_directory(path, none) ? path : std::filesystem::path{};
}

std::string text_of(const std::filesystem::path& below_folder) {
    std::ifstream in{folder() / below_folder, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& below_folder) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines{text_of(below_folder)};
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string>& row = rows.emplace_back();
        std::istringstream cells{line};
        for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    }
    return rows;
}

}  // namespace dynaplan::data
