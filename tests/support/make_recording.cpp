// Writes an FPM trace of a simulated fleet in open loop: a recording to replay when no real one is at hand.
// The namespace of every line says that it is simulated. One seed gives one file, to the byte.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "core/config_field.hpp"
#include "plan/planner.hpp"
#include "sim/closed_loop.hpp"
#include "sim/fleet.hpp"
#include "wire/fpm_trace.hpp"
#include "wire/fpm_trace_writer.hpp"
#include "wire/gzip.hpp"
#include "wire/json_event.hpp"

namespace {

using namespace dynaplan;

// The date of the recordings, 2026-01-01 00:00 UTC: fixed, so that a seed gives the same bytes on every day.
constexpr std::int64_t start_unix_ms = 1'767'225'600'000;
constexpr double traffic_window_s = 180.0;  // the default throughput interval

struct Options {
    std::string out;
    sim::Shape shape = sim::Shape::constant;
    Mode mode = Mode::disagg;
    std::int64_t engines = 2;
    double minutes = 10.0;
    double rate = 8.0;
    double peak = 0.0;  // 0: three times the rate
    double isl = 3000.0;
    double osl = 300.0;
    double spread = 0.3;
    std::uint64_t seed = 1;
    bool with_traffic = false;
    bool scaled = false;
};

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

sim::FleetConfig fleet_of(const Options& o) {
    const Seconds length{60.0 * o.minutes};
    sim::FleetConfig c;
    c.mode = o.mode;
    c.traffic.load.shape = o.shape;
    c.traffic.load.rate = o.rate;
    c.traffic.load.peak = o.peak > 0.0 ? o.peak : 3.0 * o.rate;
    // The shapes fill the recording, however long it is.
    switch (o.shape) {
        case sim::Shape::onoff:
            c.traffic.load.rate = 0.0;
            c.traffic.load.peak = o.peak > 0.0 ? o.peak : o.rate;
            c.traffic.load.period = length / 4.0;
            c.traffic.load.duration = length / 8.0;
            break;
        case sim::Shape::diurnal: c.traffic.load.period = length; break;
        case sim::Shape::spike:
            c.traffic.load.from = length * 0.4;
            c.traffic.load.duration = length * 0.1;
            c.traffic.load.period = length;
            break;
        case sim::Shape::constant:
        case sim::Shape::ramp:
        case sim::Shape::step:
            c.traffic.load.from = length * 0.25;
            c.traffic.load.duration = length * 0.5;
            break;
    }
    c.traffic.isl = {o.isl, o.spread, 30'000};
    c.traffic.osl = {o.osl, o.spread, 4'000};
    for (const Role role : all_roles) c.role[role].replicas = o.engines;
    // As the operator's side is rarely recorded so often.
    c.inventory_interval = Seconds{o.scaled ? 10.0 : 60.0};
    return c;
}

// The recording as text, and as a file: plain or gzip by its name.
class Recording {
public:
    Recording(const Options& options, std::ofstream& file)
        : options_{options}, file_{file}, gzip_{ends_with(options.out, ".gz")} {}

    void take(const Event& event) {
        if (const auto* f = std::get_if<FpmArrived>(&event.body)) {
            const std::int64_t ms = milliseconds(event.at);
            if (reports_++ == 0) first_report_ms_ = ms;
            wire::append_trace_line(
                text_, {ms, "dynaplan-simulated", f->role == Role::prefill ? "prefill" : "backend",
                        f->fpm.worker_id, "full", start_unix_ms + ms, f->fpm});
        } else if (options_.with_traffic && reports_ == 0) {
            // Times of these lines count from the first report, which is not known yet.
            early_.push_back(event);
        } else if (options_.with_traffic) {
            write_early();
            line(event);
        }
        if (text_.size() >= wire::trace_flush_bytes) flush();
    }
    void finish() {
        write_early();
        flush();
    }
    [[nodiscard]] std::int64_t reports() const { return reports_; }
    [[nodiscard]] std::int64_t lines() const { return lines_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

private:
    static std::int64_t milliseconds(TimePoint t) { return std::llround(1000.0 * seconds_of(t)); }

    void line(Event event) {
        // In whole milliseconds, as the reports' times are: a line never stands before its neighbour.
        const std::int64_t ms = milliseconds(event.at) - first_report_ms_;
        event.at = at_seconds(static_cast<double>(std::max<std::int64_t>(ms, 0)) / 1000.0);
        wire::append_event_json(text_, event);
        text_ += '\n';
        ++lines_;
    }
    void write_early() {
        for (const Event& event : std::exchange(early_, {})) line(event);
    }
    void flush() {
        const std::string bytes = gzip_ ? (text_.empty() ? "" : wire::gzip_member(text_)) : text_;
        file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        bytes_ += bytes.size();
        text_.clear();
    }

    const Options& options_;
    std::ofstream& file_;
    bool gzip_;
    std::string text_;
    std::vector<Event> early_;
    std::int64_t first_report_ms_ = 0;
    std::int64_t reports_ = 0;
    std::int64_t lines_ = 0;
    std::uint64_t bytes_ = 0;
};

// The fleet as it is: nobody scales it.
void run_open(const Options& options, sim::Fleet& fleet, TimePoint end, Recording& recording) {
    std::vector<Event> events;
    TimePoint next_question = at_seconds(traffic_window_s);
    while (fleet.next_time() && *fleet.next_time() <= end) {
        while (options.with_traffic && next_question <= *fleet.next_time()) {
            fleet.ask_traffic(Seconds{traffic_window_s}, next_question);
            next_question += Seconds{traffic_window_s};
        }
        events.clear();
        fleet.run_until(*fleet.next_time(), events);
        for (const Event& event : events) recording.take(event);
    }
}

// The fleet scaled by the planner, which a replay of the recording then decides anew.
class RecordedPlanner {
public:
    RecordedPlanner(plan::Planner& planner, Recording& recording)
        : planner_{planner}, recording_{recording} {}
    Effects step(const Event& event) {
        const bool of_the_fleet = std::holds_alternative<EngineJoined>(event.body) ||
                                  std::holds_alternative<EngineLeft>(event.body) ||
                                  std::holds_alternative<FpmArrived>(event.body) ||
                                  std::holds_alternative<InventoryRead>(event.body) ||
                                  std::holds_alternative<TrafficObserved>(event.body);
        if (of_the_fleet) recording_.take(event);
        return planner_.step(event);
    }

private:
    plan::Planner& planner_;
    Recording& recording_;
};

void run_scaled(const Options& options, sim::Fleet& fleet, TimePoint end, Recording& recording) {
    PlannerConfig config = config_of(Preset::dynaplan);
    config.mode = options.mode;
    config.max_gpu_budget = -1;
    config.prefill_engine_num_gpu = config.decode_engine_num_gpu = 1;
    plan::Planner planner{config};
    RecordedPlanner recorded{planner, recording};
    sim::ClosedLoop<RecordedPlanner> loop{recorded, fleet, {}};
    loop.run_until(end);
    std::printf("the planner scaled the fleet while it was recorded: %zu decisions\n",
                loop.decisions().size());
}

int record(const Options& options) {
    const sim::FleetConfig config = fleet_of(options);
    const std::vector<std::string> wrong = sim::problems(config);
    for (const std::string& problem : wrong) std::fprintf(stderr, "make_recording: %s\n", problem.c_str());
    if (!wrong.empty()) return 2;

    std::ofstream file{options.out, std::ios::binary | std::ios::trunc};
    if (!file) {
        std::fprintf(stderr, "make_recording: cannot write %s\n", options.out.c_str());
        return 1;
    }
    sim::Fleet fleet{config, options.seed};
    Recording recording{options, file};
    const TimePoint end = at_seconds(60.0 * options.minutes);
    (options.scaled ? run_scaled : run_open)(options, fleet, end, recording);
    recording.finish();
    file.close();
    if (!file) {
        std::fprintf(stderr, "make_recording: writing %s failed\n", options.out.c_str());
        return 1;
    }

    const sim::Scores s = fleet.scores(TimePoint{});
    std::printf("%s: a simulated recording, seed %llu\n", options.out.c_str(),
                static_cast<unsigned long long>(options.seed));
    std::printf("  %s, %lld engines a role, %s load, %g minutes\n",
                std::string{to_string(options.mode)}.c_str(), static_cast<long long>(options.engines),
                std::string{to_string(options.shape)}.c_str(), options.minutes);
    std::printf("  %lld reports, %lld other lines, %llu bytes\n", static_cast<long long>(recording.reports()),
                static_cast<long long>(recording.lines()),
                static_cast<unsigned long long>(recording.bytes()));
    std::printf("  %lld requests, %lld finished; TTFT p95 %.0f ms, ITL p95 %.1f ms\n",
                static_cast<long long>(s.arrived), static_cast<long long>(s.finished), s.ttft_p95.count(),
                s.itl_p95.count());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app{"Writes an FPM trace of a simulated fleet (open loop), to be replayed"};
    std::string shape{to_string(o.shape)};
    std::string mode{to_string(o.mode)};
    app.add_option("--out", o.out, "file to write; .gz at the end compresses it")->required();
    app.add_option("--shape", shape, "course of the load")
        ->check(CLI::IsMember({"constant", "ramp", "step", "spike", "diurnal", "onoff"}));
    app.add_option("--mode", mode, "what is deployed")
        ->check(CLI::IsMember({"disagg", "prefill", "decode", "agg"}));
    app.add_option("--engines", o.engines, "engines of each role")->check(CLI::Range(1, 10'000));
    app.add_option("--minutes", o.minutes, "length")->check(CLI::Range(0.01, 10'080.0));
    app.add_option("--rate", o.rate, "requests/s; onoff: while on")->check(CLI::Range(0.0, 1e5));
    app.add_option("--peak", o.peak, "requests/s at the top of the shape; default: three times the rate")
        ->check(CLI::Range(0.0, 1e5));
    app.add_option("--isl", o.isl, "mean prompt length, tokens")->check(CLI::Range(1.0, 30'000.0));
    app.add_option("--osl", o.osl, "mean answer length, tokens")->check(CLI::Range(1.0, 4'000.0));
    app.add_option("--spread", o.spread, "deviation of the logarithm of lengths; 0: all alike")
        ->check(CLI::Range(0.0, 2.0));
    app.add_option("--seed", o.seed, "one seed gives one file");
    app.add_flag("--with-traffic", o.with_traffic,
                 "also lines of the step protocol: joins, inventory, traffic (t from the first report)");
    app.add_flag("--scaled", o.scaled, "the planner scales the fleet meanwhile (implies --with-traffic)");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    o.with_traffic = o.with_traffic || o.scaled;
    o.shape = *sim::shape_from(shape);
    for (const Mode m : {Mode::disagg, Mode::prefill, Mode::decode, Mode::agg}) {
        if (to_string(m) == mode) o.mode = m;
    }
    return record(o);
}
