// The learning half of the naive twin: samples in buckets, averages and a straight line through the samples,
// each the way the specification (core semantics 4) words it and as slow as it likes. Nothing is shared with
// src/pure/model.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/fpm.hpp"

namespace dynaplan::reference {

// Counts comparisons that rounding could turn: a scenario with one is not compared any further.
struct Edges {
    std::int64_t seen = 0;
    void look(double a, double b);        // two values that are compared
    void look_at_whole(double quotient);  // a value that is rounded up or down
};

struct Line {
    double slope_0 = 0.0;
    double slope_1 = 0.0;
    double intercept = 0.0;
    [[nodiscard]] double wall(double x0, double x1) const {
        return std::max(slope_0 * x0 + slope_1 * x1 + intercept, 1e-6);
    }
};

class MeanOf {
public:
    explicit MeanOf(std::int64_t window) : window_{window} {}
    void add(double value);
    [[nodiscard]] double value() const;

private:
    std::int64_t window_;
    std::deque<double> values_;
};

class TwinModel {
public:
    enum class Kind { prefill, decode, agg };

    TwinModel(Kind, const PlannerConfig&);
    void observe(const ForwardPass&);
    [[nodiscard]] std::int64_t size() const;
    [[nodiscard]] bool enough() const { return size() >= min_observations_; }
    [[nodiscard]] std::optional<Line> fit(Edges&) const;

    MeanOf isl, prefill_requests, prefill_tokens, decode_length, decode_requests;
    std::int64_t max_observed_kv = 0;

private:
    struct Sample {
        double x0;
        double x1;
        double wall;
    };
    using Key = std::pair<std::int64_t, std::int64_t>;
    using Buckets = std::vector<std::pair<Key, std::vector<Sample>>>;  // in order of creation

    void add(const Sample&);
    [[nodiscard]] std::int64_t index(double value, double low, double high) const;
    void put(Buckets&, const Sample&) const;

    Kind kind_;
    std::int64_t window_;
    std::int64_t per_axis_;
    std::int64_t min_observations_;
    Buckets buckets_;
    std::optional<std::pair<double, double>> range_0_, range_1_;  // smallest and largest seen
};

}  // namespace dynaplan::reference
