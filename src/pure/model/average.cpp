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

void CountedAverage::add(double value) {
    if (!seen_nonzero_) {
        if (value == 0.0) return;
        seen_nonzero_ = true;
    }
    const auto capacity = static_cast<std::int64_t>(ring_.size());
    double& place = ring_[static_cast<std::size_t>(next_)];
    CompensatedSum sum{sum_, error_};  // in registers: five of these move with every report
    if (length_ == capacity) {
        if (std::isfinite(place)) {
            sum.add(-place);
        } else {
            --nonfinite_;
        }
    } else {
        ++length_;
    }
    place = value;
    if (std::isfinite(value)) {
        sum.add(value);
    } else {
        ++nonfinite_;
    }
    sum_ = sum.total;
    error_ = sum.error;
    if (++next_ == capacity) {
        next_ = 0;
        if (!std::isfinite(sum_) || !std::isfinite(error_)) sum_afresh();  // it has overflowed since
    }
}

void CountedAverage::sum_afresh() {
    CompensatedSum sum;
    for (std::int64_t i = 0; i < length_; ++i) {
        const double value = ring_[static_cast<std::size_t>(i)];
        if (std::isfinite(value)) sum.add(value);
    }
    sum_ = sum.total;
    error_ = sum.error;
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

void TimedAverage::advance(TimePoint now) const {
    const double position = seconds_of(now) * slices_per_second_;
    if (position < static_cast<double>(slice_ + 1)) return;  // the common case: still in the newest slice
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

void TimedAverage::add(double value, TimePoint now) {
    advance(now);
    const auto place = static_cast<std::size_t>(slice_ % static_cast<std::int64_t>(slices));
    sums_[place] += value;
    sum_ += value;
    ++counts_[place];
    ++count_;
}

double TimedAverage::value(TimePoint now) const {
    advance(now);
    return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_);
}

double TimedAverage::sum(TimePoint now) const {
    advance(now);
    return sum_;
}

Seconds TimedAverage::covered(Seconds window, TimePoint now) const {
    const double position = seconds_of(now) * slices_per_second_;
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

void Average::add(double value, TimePoint now) {
    if (auto* timed = std::get_if<TimedAverage>(&kind_)) {
        timed->add(value, now);
    } else {
        std::get_if<CountedAverage>(&kind_)->add(value);
    }
}

}  // namespace dynaplan::model
