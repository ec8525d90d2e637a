// What the benchmark measures and prints: one row per piece of work, in the order of the reference's own
// table, then the rows that have no counterpart there. Each row is several passes over the same work.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dynaplan::bench {

// How a row is written: as the time of one operation, as operations per second, or as bytes.
enum class Unit : std::uint8_t { time, rate, bytes };

// One pass: the cost of one operation.
struct Pass {
    double value = 0.0;                 // seconds per operation, or bytes
    std::optional<double> allocations;  // calls of operator new per operation, where they are counted
};

struct Row {
    std::string name;
    Unit unit = Unit::time;
    std::optional<double> reference{};  // the same work on the reference planner core, seconds per operation
    std::optional<double> target{};     // at most, in the unit of Pass::value
    // Sets the work up and returns what one pass does. Called only for rows that are wanted.
    std::function<std::function<Pass()>(bool quick)> prepare;
    int passes = 10;
};

struct Figure {
    std::string name;
    Unit unit{};
    double median = 0.0;
    double least = 0.0;
    double most = 0.0;
    int passes = 0;
    std::optional<double> allocations;  // the largest of the passes
    std::optional<double> reference;
    std::optional<double> target;
};

Figure measure(const Row&, bool quick);

// Processor seconds of this thread so far. The work never waits, so on a machine of its own this is the time
// that passes; on a shared one it leaves out what the neighbours take.
double processor_seconds();

// Seconds that `work` takes.
template <class Work>
double seconds_taken(const Work& work) {
    const double start = processor_seconds();
    work();
    return processor_seconds() - start;
}

// A pass of `operations` operations that also counts what they allocate.
template <class Work>
Pass counted_pass(std::int64_t operations, const Work& work);

// Keeps the compiler from leaving work out whose result nobody reads.
template <class T>
void keep(const T& value) {
    asm volatile("" : : "r"(&value) : "memory");
}

// Calls of the global operator new so far; this program replaces it to count them.
std::int64_t allocations_so_far();

template <class Work>
Pass counted_pass(std::int64_t operations, const Work& work) {
    const std::int64_t before = allocations_so_far();
    const double seconds = seconds_taken(work);
    const auto n = static_cast<double>(operations);
    return {seconds / n, static_cast<double>(allocations_so_far() - before) / n};
}

// The groups of rows, each in a file of its own.
void add_tick_rows(std::vector<Row>&);
void add_model_rows(std::vector<Row>&);
void add_wire_rows(std::vector<Row>&);
void add_search_rows(std::vector<Row>&);
void add_scenario_rows(std::vector<Row>&);
void add_planner_rows(std::vector<Row>&);
void add_stream_rows(std::vector<Row>&);

}  // namespace dynaplan::bench
