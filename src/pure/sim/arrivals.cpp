#include "sim/arrivals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace dynaplan::sim {

namespace {

constexpr std::array<std::pair<Shape, std::string_view>, 6> shape_names{{{Shape::constant, "constant"},
                                                                         {Shape::ramp, "ramp"},
                                                                         {Shape::step, "step"},
                                                                         {Shape::spike, "spike"},
                                                                         {Shape::diurnal, "diurnal"},
                                                                         {Shape::onoff, "onoff"}}};

Seconds within(Seconds t, Seconds period) { return Seconds{std::fmod(t.count(), period.count())}; }

// True when the rate is 0 from this time on: the search for the next request would never end.
bool silent_for_good(const Load& load, Seconds t) {
    if (load.peak > 0.0) return false;
    if (load.shape == Shape::step) return t >= load.from;
    return load.shape == Shape::ramp && t >= load.from + load.duration;
}

bool length_ok(const Lengths& l) {
    return std::isfinite(l.mean) && l.mean >= 1.0 && std::isfinite(l.sigma) && l.sigma >= 0.0 && l.most >= 1;
}

}  // namespace

std::string_view to_string(Shape shape) {
    for (const auto& [value, name] : shape_names) {
        if (value == shape) return name;
    }
    return "?";
}

std::optional<Shape> shape_from(std::string_view text) {
    for (const auto& [value, name] : shape_names) {
        if (name == text) return value;
    }
    return std::nullopt;
}

double Load::rate_at(Seconds t) const {
    if (t >= until) return 0.0;
    switch (shape) {
        case Shape::constant: return rate;
        case Shape::ramp: return rate + std::clamp((t - from) / duration, 0.0, 1.0) * (peak - rate);
        case Shape::step: return t >= from ? peak : rate;
        case Shape::spike: return t >= from && within(t - from, period) < duration ? peak : rate;
        case Shape::diurnal: {
            const double turn = 2.0 * std::numbers::pi * (t / period);
            return 0.5 * (rate + peak) - 0.5 * (peak - rate) * std::cos(turn);
        }
        case Shape::onoff: return within(t, period) < duration ? peak : rate;
    }
    return rate;
}

double Load::highest() const { return shape == Shape::constant ? rate : std::max(rate, peak); }

std::int64_t Lengths::draw(Random& random) const {
    const double x = sigma > 0.0 ? mean * random.lognormal(sigma) : mean;
    return static_cast<std::int64_t>(std::llround(std::clamp(x, 1.0, static_cast<double>(most))));
}

std::vector<std::string> problems(const TrafficConfig& t) {
    std::vector<std::string> found;
    for (const double rate : {t.load.rate, t.load.peak}) {
        if (!std::isfinite(rate) || rate < 0.0 || rate > 1e6) {
            found.emplace_back("traffic: rates lie between 0 and 1,000,000 requests/s");
        }
    }
    if (!(t.load.duration.count() > 0.0) || !(t.load.period.count() > 0.0)) {
        found.emplace_back("traffic: duration and period must be above 0 s");
    }
    if ((t.load.shape == Shape::spike || t.load.shape == Shape::onoff) && t.load.duration > t.load.period) {
        found.emplace_back("traffic: duration must not exceed period");
    }
    if (!(t.load.from.count() >= 0.0)) found.emplace_back("traffic: from must be 0 s or later");
    if (!length_ok(t.isl) || !length_ok(t.osl)) {
        found.emplace_back("traffic: mean lengths are at least 1 token, sigma is 0 or more");
    }
    if (!(t.kv_hit_rate >= 0.0 && t.kv_hit_rate <= 0.95)) {
        found.emplace_back("traffic: kv_hit_rate lies between 0 and 0.95");
    }
    return found;
}

Arrivals::Arrivals(const TrafficConfig& config, TimePoint start, const Random& random)
    : config_{config}, start_{start}, candidate_{start}, gaps_{random.fork(1)}, lengths_{random.fork(2)} {}

std::optional<Arrival> Arrivals::next() {
    const double highest = config_.load.highest();
    if (!(highest > 0.0)) return std::nullopt;
    while (candidate_ - start_ < config_.load.until) {
        candidate_ += Seconds{gaps_.exponential() / highest};
        // One number is drawn for every candidate, so that the same seed meets the same candidates in any
        // shape.
        const double kept = gaps_.uniform() * highest;
        if (kept >= config_.load.rate_at(candidate_ - start_)) {
            if (silent_for_good(config_.load, candidate_ - start_)) return std::nullopt;
            continue;
        }
        const std::int64_t isl = config_.isl.draw(lengths_);
        const std::int64_t osl = config_.osl.draw(lengths_);
        return Arrival{candidate_, isl, osl};
    }
    return std::nullopt;
}

}  // namespace dynaplan::sim
