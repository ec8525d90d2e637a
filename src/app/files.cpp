#include "app/files.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "wire/fpm_trace.hpp"
#include "wire/fpm_trace_path.hpp"
#include "wire/gzip.hpp"
#include "wire/journal.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::app {

namespace {

namespace fs = std::filesystem;

// Enough of a text to tell what it is; a line of a trace has 600 bytes.
constexpr std::size_t looked_at = std::size_t{64} << 10U;

std::string text_of(std::string_view head) {
    constexpr std::string_view gzip_magic = "\x1f\x8b";
    if (!head.starts_with(gzip_magic)) return std::string{head.substr(0, looked_at)};
    std::string text(looked_at, '\0');
    wire::GzipInflater inflater;
    inflater.begin_member();
    text.resize(inflater.inflate(head, text.data(), text.size()).produced);
    return text;
}

bool is_step_line(std::string_view line) {
    const wire::ScenarioLine scenario = wire::scenario_line(line);
    if (scenario.kind == wire::ScenarioLineKind::blank) return false;
    if (scenario.kind != wire::ScenarioLineKind::event) return true;
    return line.find("\"t\"") != std::string_view::npos && line.find("\"event\"") != std::string_view::npos;
}

InputKind kind_of(std::string_view head) {
    if (wire::looks_like_journal(head)) return InputKind::journal;
    const std::string text = text_of(head);
    if (text.find("planner-core-scenario/1") != std::string::npos) return InputKind::core_scenario;
    if (text.find(wire::fpm_trace_schema) != std::string::npos) return InputKind::trace;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        if (is_step_line(std::string_view{text}.substr(from, to - from))) return InputKind::steps;
        from = to + 1;
    }
    return InputKind::trace;
}

std::string reason_of(int error) { return std::strerror(error); }

volatile std::sig_atomic_t interrupt_seen = 0;

extern "C" void note_interrupt(int) {
    interrupt_seen = 1;
    std::signal(SIGINT, SIG_DFL);
}

}  // namespace

std::vector<std::string> expand_paths(const std::vector<std::string>& given) {
    std::vector<std::string> paths;
    for (const std::string& path : given) {
        std::error_code ignored;
        if (path.find_first_of("*?[") == std::string::npos || fs::exists(path, ignored)) {
            paths.push_back(path);
            continue;
        }
        glob_t found{};
        if (::glob(path.c_str(), 0, nullptr, &found) == 0) {
            std::vector<std::string> matches(found.gl_pathv, found.gl_pathv + found.gl_pathc);
            wire::sort_segment_paths(matches);
            paths.insert(paths.end(), matches.begin(), matches.end());
        } else {
            paths.push_back(path);
        }
        ::globfree(&found);
    }
    return paths;
}

Result<InputFile> InputFile::open(const std::string& path) {
    InputFile input;
    input.path_ = path;
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return failure(path + ": " + reason_of(errno));
    if (S_ISDIR(status.st_mode))
        return failure(path + ": is a directory; name its files, as in '" + path + "/*'");
    input.file_.reset(std::fopen(path.c_str(), "rb"));
    if (!input.file_) return failure(path + ": " + reason_of(errno));
    if (S_ISREG(status.st_mode)) input.size_ = static_cast<std::uint64_t>(status.st_size);
    if (const auto filled = input.fill(); !filled) return tl::unexpected{filled.error()};
    if (input.piece_.empty()) return failure(path + ": is empty");
    input.kind_ = kind_of(input.piece_);
    if (input.kind_ == InputKind::journal) input.head_ = input.piece_.substr(0, looked_at);
    if (S_ISREG(status.st_mode)) {
        input.file_.reset();
        input.piece_ = std::string{};
        input.first_ = false;
        input.closed_ = true;
    }
    return input;
}

Result<void> InputFile::fill() {
    piece_.resize(piece_bytes);
    piece_.resize(std::fread(piece_.data(), 1, piece_.size(), file_.get()));
    if (std::ferror(file_.get()) != 0) return failure(path_ + ": " + reason_of(errno));
    return {};
}

Result<std::string_view> InputFile::read() {
    if (std::exchange(closed_, false)) {
        file_.reset(std::fopen(path_.c_str(), "rb"));
        if (!file_) return failure(path_ + ": " + reason_of(errno));
    }
    if (!std::exchange(first_, false)) {
        if (const auto filled = fill(); !filled) return tl::unexpected{filled.error()};
    }
    return std::string_view{piece_};
}

Result<std::string> InputFile::read_all(std::uint64_t limit) {
    std::string all;
    all.reserve(static_cast<std::size_t>(std::min(size_, limit)));
    for (;;) {
        const auto piece = read();
        if (!piece) return tl::unexpected{piece.error()};
        if (piece->empty()) {
            file_.reset();
            return all;
        }
        if (all.size() + piece->size() > limit)
            return failure(path_ + ": is larger than " + std::to_string(limit) + " bytes");
        all += *piece;
    }
}

Result<OutputFile> OutputFile::create(const std::string& path) {
    OutputFile output;
    output.path_ = path;
    output.file_.reset(std::fopen(path.c_str(), "wb"));
    if (!output.file_) return failure(path + ": cannot be written: " + reason_of(errno));
    return output;
}

Result<void> OutputFile::write(std::string_view bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size()) return {};
    return failure(path_ + ": cannot be written: " + reason_of(errno));
}

Result<void> OutputFile::close() {
    if (std::fclose(file_.release()) == 0) return {};
    return failure(path_ + ": cannot be written: " + reason_of(errno));
}

void watch_interrupt() { std::signal(SIGINT, note_interrupt); }

bool interrupted() { return interrupt_seen != 0; }

Progress::Progress() : on_{::isatty(STDERR_FILENO) == 1} {}

Progress::~Progress() { clear(); }

void Progress::show(std::string_view what, std::uint64_t done, std::uint64_t total) {
    if (!on_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    constexpr std::chrono::milliseconds interval{100};
    next_ = now + interval;
    shown_ = true;
    if (total > 0) {
        const double percent = 100.0 * static_cast<double>(done) / static_cast<double>(total);
        std::fprintf(stderr, "\r\x1b[K%.*s %.0f %%", static_cast<int>(what.size()), what.data(),
                     std::min(percent, 100.0));
    } else {
        std::fprintf(stderr, "\r\x1b[K%.*s %llu", static_cast<int>(what.size()), what.data(),
                     static_cast<unsigned long long>(done));
    }
    std::fflush(stderr);
}

void Progress::clear() {
    if (!shown_) return;
    std::fputs("\r\x1b[K", stderr);
    shown_ = false;
}

}  // namespace dynaplan::app
