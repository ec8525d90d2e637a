// build/tests/bench: the work of the reference's benchmark, in its order, then the rows of Dynaplan's own.
// Figures are kept in docs/performance.md; nothing here passes or fails by time. --quick does each row once
// and small, to see that it works.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/row.hpp"

namespace {

using namespace dynaplan::bench;

struct Machine {
    std::string cpu = "unknown";
    std::string load = "unknown";  // over the last minute: neighbours make every figure worse
    std::string compiler = DYNAPLAN_COMPILER;
    std::string flags = DYNAPLAN_FLAGS;
};

Machine this_machine() {
    Machine m;
    std::ifstream cpus{"/proc/cpuinfo"};
    std::string line;
    int count = 0;
    while (std::getline(cpus, line)) {
        if (line.rfind("processor", 0) == 0) ++count;
        if (line.rfind("model name", 0) == 0 && m.cpu == "unknown") m.cpu = line.substr(line.find(':') + 2);
    }
    m.cpu += fmt::format(", {} cores", count);
    std::ifstream load{"/proc/loadavg"};
    load >> m.load;
    return m;
}

std::string time_text(double seconds) {
    constexpr double ms = 1e-3;
    constexpr double us = 1e-6;
    if (seconds >= ms) return fmt::format("{:.3g} ms", seconds / ms);
    if (seconds >= us) return fmt::format("{:.3g} us", seconds / us);
    return fmt::format("{:.3g} ns", seconds / 1e-9);
}

std::string text_of(Unit unit, double value) {
    switch (unit) {
        case Unit::time: return time_text(value);
        case Unit::rate: return fmt::format("{:.4g} M/s", 1e-6 / value);
        case Unit::bytes: break;
    }
    return fmt::format("{:.1f} MB", value / 1e6);
}

void print_text(const Figure& f) {
    std::string line = fmt::format("{:<62} {:>11}  ({} to {})", f.name, text_of(f.unit, f.median),
                                   text_of(f.unit, f.least), text_of(f.unit, f.most));
    if (f.unit == Unit::rate) line += fmt::format("  {} each", time_text(f.median));
    if (f.reference) line += fmt::format("  {:.0f} x reference", *f.reference / f.median);
    if (f.target)
        line += fmt::format("  target {}{}", f.unit == Unit::rate ? "" : "<= ", text_of(f.unit, *f.target));
    if (f.target && f.unit == Unit::rate) line += " or more";
    if (f.allocations) line += fmt::format("  {:.3g} allocations", *f.allocations);
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

nlohmann::ordered_json json_of(const Figure& f) {
    nlohmann::ordered_json o;
    o["name"] = f.name;
    o["unit"] = f.unit == Unit::bytes ? "bytes" : "seconds_per_operation";
    o["median"] = f.median;
    o["min"] = f.least;
    o["max"] = f.most;
    o["passes"] = f.passes;
    if (f.unit == Unit::rate) o["per_second"] = 1.0 / f.median;
    if (f.reference) {
        o["reference"] = *f.reference;
        o["ratio"] = *f.reference / f.median;
    }
    if (f.target) o["target"] = *f.target;
    if (f.allocations) o["allocations"] = *f.allocations;
    return o;
}

std::vector<Row> all_rows() {
    std::vector<Row> rows;
    add_tick_rows(rows);
    add_model_rows(rows);
    add_wire_rows(rows);
    add_search_rows(rows);
    add_scenario_rows(rows);
    add_planner_rows(rows);
    add_stream_rows(rows);
    return rows;
}

}  // namespace

int main(int argc, char** argv) {
    bool json = false;
    bool quick = false;
    std::string filter;
    CLI::App app{
        "Benchmark of the planner core. Medians of several passes, smallest and largest in brackets."};
    app.add_flag("--json", json, "one JSON object instead of the table");
    app.add_flag("--quick", quick, "each row once and small: to see that it works, not how fast");
    app.add_option("--filter", filter, "only rows whose name contains this text");
    CLI11_PARSE(app, argc, argv);

    const Machine machine = this_machine();
    if (!json) {
        fmt::print("{}; load {}\n{}, {}\n\n", machine.cpu, machine.load, machine.compiler, machine.flags);
    }
    nlohmann::ordered_json out;
    out["machine"] = {{"cpu", machine.cpu}, {"load", machine.load}};
    out["compiler"] = machine.compiler;
    out["flags"] = machine.flags;
    out["rows"] = nlohmann::ordered_json::array();
    for (const Row& row : all_rows()) {
        if (row.name.find(filter) == std::string::npos) continue;
        const Figure figure = measure(row, quick);
        if (json) {
            out["rows"].push_back(json_of(figure));
        } else {
            print_text(figure);
        }
    }
    if (json) fmt::print("{}\n", out.dump(2));
    return 0;
}
