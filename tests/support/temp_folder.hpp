// A fresh folder under the machine's temporary one, gone with its owner.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <doctest/doctest.h>
#include <unistd.h>

namespace dynaplan::support {

class TempFolder {
public:
    TempFolder() : TempFolder{std::filesystem::temp_directory_path()} {}
    explicit TempFolder(const std::filesystem::path& parent) {
        std::string pattern = (parent / "dynaplan-XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

// Where files are in memory, if the machine has such a place: for tests that kill processes, which no disk is
// needed for, and that would wait for one most of their time.
inline std::filesystem::path memory_folder() {
    return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
}

inline std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    REQUIRE_MESSAGE(file.good(), path);
    return {std::istreambuf_iterator<char>{file}, {}};
}
inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << bytes;
    file.close();
    REQUIRE_MESSAGE(file.good(), path);
}

}  // namespace dynaplan::support
