#include "check_vectors/run.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "check_vectors/kinds.hpp"
#include "check_vectors/report.hpp"

namespace dynaplan::check_vectors {

namespace {

namespace fs = std::filesystem;

struct Kind {
    std::string_view name;
    void (*check)(const nlohmann::json& file, Report& report);
};
constexpr std::array<Kind, 5> kinds{{{"core", check_core},
                                     {"models", check_models},
                                     {"predictors", check_predictors},
                                     {"event-plane", check_event_plane},
                                     {"connectors", check_connectors}}};

// Where a file says how many vectors it holds, it must hold them.
void check_count(const nlohmann::json& file, Report& report) {
    const auto count = file.find("count");
    if (count == file.end()) return;
    for (const char* list : {"vectors", "cases"}) {
        const auto entries = file.find(list);
        if (entries == file.end() || !entries->is_array()) continue;
        if (same(*count, nlohmann::json(entries->size()))) return;
        report.fail_file("count says " + shown(*count) + ", there are " + std::to_string(entries->size()) +
                         " " + list);
        return;
    }
    report.fail_file("count without a list of vectors");
}

void check_file(const fs::path& path, const Kind& kind, Report& report) {
    report.begin_file(path.string());
    std::ifstream in{path, std::ios::binary};
    std::ostringstream bytes;
    if (!in || !(bytes << in.rdbuf())) {
        report.fail_file("cannot be read");
        return;
    }
    const nlohmann::json file = nlohmann::json::parse(bytes.str(), nullptr, false);
    if (!file.is_object()) {
        report.fail_file(file.is_discarded() ? "not JSON" : "not a JSON object");
        return;
    }
    try {
        check_count(file, report);
        kind.check(file, report);
    } catch (const std::exception& error) {
        report.fail_file(std::string{"malformed: "} + error.what());
    }
    report.end_file();
}

void check_folder(const fs::path& folder, const Kind& kind, Report& report) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator it{folder, error}, end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".json" && !it->is_directory(error)) files.push_back(it->path());
    }
    report.begin_file(folder.string());
    if (error) report.fail_file("cannot be read: " + error.message());
    if (!error && files.empty()) report.fail_file("no *.json below this folder");
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) check_file(file, kind, report);
}

int usage(std::string_view problem, std::ostream& errors) {
    errors << "check_vectors: " << problem << "\nusage: check_vectors KIND PATH...\n  KIND:";
    for (const Kind& kind : kinds) errors << ' ' << kind.name;
    errors << "\n  PATH: a vector file, or a folder (every *.json below it)\n";
    return 2;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& errors) {
    if (arguments.size() < 2) return usage("a kind and at least one path are needed", errors);
    const auto* const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == arguments[0]; });
    if (kind == kinds.end()) return usage("unknown kind " + arguments[0], errors);

    Report report{out};
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const fs::path path{arguments[i]};
        std::error_code error;
        if (fs::is_directory(path, error)) {
            check_folder(path, *kind, report);
        } else {
            check_file(path, *kind, report);
        }
    }
    out << report.passed() << " passed, " << report.failed() << " failed\n";
    return report.failed() == 0 ? 0 : 1;
}

}  // namespace dynaplan::check_vectors
