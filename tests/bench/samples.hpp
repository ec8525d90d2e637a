// The inputs of the benchmark, by the recipes under which the reference's figures were taken: a small
// generator, three kinds of forward passes with their draws in a fixed order, and the configuration of the
// tick rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/event.hpp"
#include "core/fpm.hpp"
#include "core/traffic.hpp"
#include "model/regression.hpp"

namespace dynaplan::bench {

class Draws {
public:
    explicit Draws(std::uint64_t seed) : x_{seed} {}
    // In [0, 1).
    double next() {
        x_ = x_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(x_ >> 33U) / 2147483648.0;
    }
    // Truncated, as the recipes say.
    std::int64_t below(double bound) { return static_cast<std::int64_t>(bound * next()); }

private:
    std::uint64_t x_;
};

ForwardPass prefill_pass(Draws&);
ForwardPass decode_pass(Draws&);
ForwardPass agg_pass(Draws&);
ForwardPass pass_of(model::ModelKind, Draws&);
std::vector<ForwardPass> passes_of(model::ModelKind, Draws&, std::int64_t count);

// Requests, ISL, OSL over 60 s at a hit rate of 0.3.
Traffic traffic(Draws&);

// disagg, sla, both scalings, kalman, ttft 500, itl 12, intervals 60 and 5, no budget, 64 samples in 16
// buckets.
PlannerConfig tick_config(Preset);
Capabilities tick_capabilities();

// The model settings of that configuration.
model::ModelSettings model_settings(model::ModelKind, Preset);

// Instance ids are 19 digits long, as Dynamo's are.
std::string worker_id(std::int64_t number);

}  // namespace dynaplan::bench
