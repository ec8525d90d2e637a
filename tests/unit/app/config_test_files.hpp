// Help for the tests of the configuration: files in a folder that goes away, an environment made of pairs,
// and loading in one line.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "app/config_load.hpp"

namespace dynaplan::app {

class TestFolder {
public:
    TestFolder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "dynaplan-config-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) std::abort();
        path_ = pattern;
    }
    ~TestFolder() { std::filesystem::remove_all(path_); }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    [[nodiscard]] std::string path() const { return path_.string(); }
    std::string write(const std::string& name, std::string_view text) const {
        const auto file = path_ / name;
        std::ofstream{file, std::ios::binary} << text;
        return file.string();
    }

private:
    std::filesystem::path path_;
};

inline Environment variables(std::map<std::string, std::string, std::less<>> pairs) {
    return [pairs = std::move(pairs)](std::string_view name) -> std::optional<std::string> {
        const auto found = pairs.find(name);
        return found == pairs.end() ? std::nullopt : std::optional{found->second};
    };
}

inline LoadedConfig load(const std::string& config, const std::vector<Override>& overrides = {}) {
    ConfigRequest request;
    request.config = config;
    request.overrides = overrides;
    return load_config(request);
}

// Problems and warnings with the folder's name taken out: "planner.yaml:3: ...".
inline std::vector<std::string> bare(std::vector<std::string> lines, const TestFolder& folder) {
    for (std::string& line : lines) {
        const auto at = line.find(folder.path() + "/");
        if (at != std::string::npos) line.erase(at, folder.path().size() + 1);
    }
    return lines;
}

inline bool any_has(const std::vector<std::string>& lines, std::string_view part) {
    return std::ranges::any_of(lines, [part](const auto& l) { return l.find(part) != std::string::npos; });
}

inline std::string text_of_file(const std::filesystem::path& file) {
    std::ifstream in{file, std::ios::binary};
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace dynaplan::app
