// Files on the command line: globs, kinds told from their content, reading in pieces, writing with every
// error noticed. Also the two things that long work owes its user: progress on a terminal and an answer to
// Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace dynaplan::app {

// A path that does not exist and has glob characters becomes the files that it matches; segments of rotated
// traces follow each other by index. A pattern without a match stays, to be reported as missing.
std::vector<std::string> expand_paths(const std::vector<std::string>& given);

enum class InputKind : std::uint8_t {
    journal,        // segments, by their magic
    trace,          // FPM traces, also anything that is nothing else
    steps,          // step protocol and scenario files
    core_scenario,  // planner-core-scenario/1
};

class InputFile {
public:
    static constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

    // Fails with one line for what is missing, a directory, empty or unreadable. Pipes are taken too.
    static Result<InputFile> open(const std::string& path);

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] InputKind kind() const { return kind_; }
    [[nodiscard]] std::uint64_t size() const { return size_; }  // 0 for a pipe
    // The beginning of a journal segment, enough for its header. Empty for other kinds.
    [[nodiscard]] std::string_view head() const { return head_; }
    // The next piece; empty at the end.
    Result<std::string_view> read();
    void close() { file_.reset(); }  // nothing more is read
    // The rest at once; refuses more than `limit` bytes.
    Result<std::string> read_all(std::uint64_t limit);

private:
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    Result<void> fill();

    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    std::uint64_t size_ = 0;
    std::string head_;
    std::string piece_;
    bool first_ = true;    // of a pipe: piece_ holds the first one, which nobody has taken yet
    bool closed_ = false;  // a regular file is opened again when it is read: there may be thousands
    InputKind kind_ = InputKind::trace;
};

// Writes a whole file, or says why not.
class OutputFile {
public:
    static Result<OutputFile> create(const std::string& path);
    Result<void> write(std::string_view bytes);
    Result<void> close();

private:
    struct Close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
};

// Ctrl-C from now on only sets a flag, which long work asks for; a second one ends the program.
void watch_interrupt();
[[nodiscard]] bool interrupted();

// One moving line on a terminal, nothing in a pipe.
class Progress {
public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    // `total` 0: unknown.
    void show(std::string_view what, std::uint64_t done, std::uint64_t total);
    void clear();

private:
    bool on_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point next_{};
};

}  // namespace dynaplan::app
