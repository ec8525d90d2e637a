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

void TimedAverage::turn(double position) const {
    const auto slice = static_cast<std::int64_t>(std::floor(position));
    if (slice <= slice_) return;
    if (slice - slice_ >= static_cast<std::int64_t>(slices)) {
        sums_.fill(0.0);
        counts_.fill(0);
        sum_ = 0.0;
        count_ = 0;
    } else {
        for (std::int64_t s = slice_ + 1; s <= slice; ++s) {
            const auto place = static_cast<std::size_t>(s % static_cast<std::int64_t>(slices));
            sums_[place] = 0.0;
            counts_[place] = 0;
        }
        sum_ = 0.0;
        count_ = 0;
        for (std::size_t i = 0; i < slices; ++i) {
            sum_ += sums_[i];
            count_ += counts_[i];
        }
    }
    slice_ = slice;
}

double TimedAverage::value(TimePoint now) const {
    advance(now);
    return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
}

double TimedAverage::sum(TimePoint now) const {
    advance(now);
    return sum_;
}

std::size_t TimedAverage::leaving() const {
    return static_cast<std::size_t>((slice_ + 1) % static_cast<std::int64_t>(slices));
}

Ageing TimedAverage::ageing_value(TimePoint now) const {
    advance(now);
    const std::int64_t count_next = count_ - counts_[leaving()];
    return {count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_),
            count_next == 0 ? 0.0 : (sum_ - sums_[leaving()]) / static_cast<double>(count_next)};
}

Ageing TimedAverage::ageing_sum(TimePoint now) const {
    advance(now);
    return {sum_, sum_ - sums_[leaving()]};
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
