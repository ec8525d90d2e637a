#include "model/average.hpp"

#include <cmath>

#include "core/assert.hpp"

namespace dynaplan::model {

namespace {

// A sum and what rounding has taken from it (Knuth's two-sum).
struct CompensatedSum {
    double total = 0.0;
    double error = 0.0;
    void add(double value) {
        const double next = total + value;
        const double added = next - total;
        error += (total - (next - added)) + (value - added);
        total = next;
    }
};

}  // namespace

CountedAverage::CountedAverage(std::int64_t window) {
    DYNAPLAN_ASSERT(window >= 1);
    ring_.resize(static_cast<std::size_t>(window));
}

// Takes the value in, and what it pushes out of the window off.
void CountedAverage::follow(double value) {
    const auto capacity = static_cast<std::int64_t>(ring_.size());
    sum_follows_ = ++unasked_ <= capacity;
    if (!sum_follows_) return;
    CompensatedSum sum{sum_, error_};  // in registers: five of these move with every report
    if (length_ == capacity) {
        const double leaving = ring_[static_cast<std::size_t>(next_)];
        if (std::isfinite(leaving)) {
            sum.add(-leaving);
        } else {
            --nonfinite_;
        }
    }
    if (std::isfinite(value)) {
        sum.add(value);
    } else {
        ++nonfinite_;
    }
    sum_ = sum.total;
    error_ = sum.error;
    if (!std::isfinite(sum_) || !std::isfinite(error_))
        sum_follows_ = false;  // overflown: to be summed afresh
}

void CountedAverage::sum_afresh() const {
    CompensatedSum sum;
    nonfinite_ = 0;
    for (std::int64_t i = 0; i < length_; ++i) {
        const double value = ring_[static_cast<std::size_t>(i)];
        if (std::isfinite(value)) {
            sum.add(value);
        } else {
            ++nonfinite_;
        }
    }
    sum_ = sum.total;
    error_ = sum.error;
    sum_follows_ = true;
}

double CountedAverage::nonfinite_sum() const {
    double total = 0.0;
    for (std::int64_t i = 0; i < length_; ++i) {
        const double value = ring_[static_cast<std::size_t>(i)];
        if (!std::isfinite(value)) total += value;
    }
    return total;
}

TimedAverage::TimedAverage(Seconds window)
    : slices_per_second_{static_cast<double>(slices) / window.count()} {}

std::size_t TimedAverage::place_of(std::int64_t slice) {
    constexpr auto n = static_cast<std::int64_t>(slices);
    return static_cast<std::size_t>(((slice % n) + n) % n);
}

void TimedAverage::turn(double position) const {
    const auto slice = static_cast<std::int64_t>(std::floor(position));
    if (slice <= slice_) return;
    if (slice - slice_ >= static_cast<std::int64_t>(slices)) {
        slices_.fill(Part{});
    } else {
        for (std::int64_t s = slice_ + 1; s <= slice; ++s) slices_[place_of(s)] = Part{};
    }
    in_all_ = Part{};  // summed afresh, so that what leaves takes nothing along
    for (const Part& part : slices_) {
        in_all_.sum += part.sum;
        in_all_.count += part.count;
    }
    slice_ = slice;
    place_ = place_of(slice);
}

double TimedAverage::value(TimePoint now) const {
    advance(now);
    return in_all_.mean();
}

double TimedAverage::sum(TimePoint now) const {
    advance(now);
    return in_all_.sum;
}

TimedAverage::Part TimedAverage::without_leaving() const {
    const Part& leaving = slices_[place_ + 1 == slices ? 0 : place_ + 1];
    return {in_all_.sum - leaving.sum, in_all_.count - leaving.count};
}

Ageing TimedAverage::ageing_value(TimePoint now) const {
    advance(now);
    return {in_all_.mean(), without_leaving().mean()};
}

Ageing TimedAverage::ageing_sum(TimePoint now) const {
    advance(now);
    return {in_all_.sum, without_leaving().sum};
}

Seconds TimedAverage::covered(Seconds window, TimePoint now) {
    const double position = seconds_of(now) * (static_cast<double>(slices) / window.count());
    const double part = position - std::floor(position);
    return window * ((static_cast<double>(slices) - 1.0 + part) / static_cast<double>(slices));
}

Average Average::of(Averages kind, std::int64_t window_values, Seconds window) {
    Average a;
    if (kind == Averages::counted) {
        a.kind_.emplace<CountedAverage>(window_values);
    } else {
        a.kind_.emplace<TimedAverage>(window);
    }
    return a;
}

}  // namespace dynaplan::model
