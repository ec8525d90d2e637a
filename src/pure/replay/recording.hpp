// What FPM trace files hold, before it is known which role an engine has and where the lines stand in time:
// reports in compact form, and the lines of the step protocol among them.
//
// All of it is kept in memory, 140 bytes a report: roles, the mode and the capabilities are inferred from the
// whole recording before its first line is replayed, and step-protocol lines count from its first report. An
// hour of 100 engines at 20 passes a second takes 1 GB.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/event.hpp"
#include "core/fpm.hpp"
#include "replay/refusals.hpp"
#include "wire/fpm_trace.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::replay {

struct RecordedEngine {
    std::string component;  // gives the role
    std::string worker_id;
    std::int64_t dp_rank = 0;
    std::uint64_t reports = 0;
};

struct RecordedPass {
    std::int64_t observed_ms = 0;  // since 1970
    std::uint32_t engine = 0;      // index into engines()
    ForwardPass pass;
};

struct RecordedLine {  // of the step protocol; its time counts from the first report of all files
    Event event;
    std::uint64_t line = 0;
};

class Recording {
public:
    // An entry of a file, in the order of its lines.
    struct Entry {
        std::uint32_t index = 0;  // into passes() or lines()
        bool is_pass = true;
    };
    struct File {
        std::string name;
        std::vector<Entry> entries;
    };

    // The lines that follow are this file's.
    void begin_file(std::string name);
    void take(const wire::TraceRecord&, std::uint64_t line);
    // A line that is JSON but no report: of the step protocol, or refused.
    void take_line(std::string_view text, std::uint64_t line);
    void refuse(std::string_view cause, std::uint64_t line, std::string_view message);

    [[nodiscard]] const std::vector<RecordedEngine>& engines() const { return engines_; }
    [[nodiscard]] const std::vector<RecordedPass>& passes() const { return passes_; }
    [[nodiscard]] const std::vector<RecordedLine>& lines() const { return lines_; }
    [[nodiscard]] const std::vector<File>& files() const { return files_; }
    [[nodiscard]] bool has_traffic() const { return has_traffic_; }
    [[nodiscard]] bool has_inventory() const { return has_inventory_; }
    [[nodiscard]] Refusals& refusals() { return refusals_; }
    [[nodiscard]] const Refusals& refusals() const { return refusals_; }

private:
    std::uint32_t engine_of(const wire::TraceRecord&);

    std::vector<File> files_;
    std::vector<RecordedEngine> engines_;
    // component, worker, rank; looked up for each report, so the last one is remembered.
    std::map<std::tuple<std::string, std::string, std::int64_t>, std::uint32_t> index_;
    std::uint32_t last_engine_ = 0;
    std::vector<RecordedPass> passes_;
    std::vector<RecordedLine> lines_;
    wire::StepLineParser parser_;
    Event event_;
    bool has_traffic_ = false;
    bool has_inventory_ = false;
    Refusals refusals_;
};

}  // namespace dynaplan::replay
