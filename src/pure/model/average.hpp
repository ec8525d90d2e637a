// Moving averages of what engines report, in the two forms that the policy `averages` chooses from.
//
// counted: the last N values, whenever they came (the reference). Zeros are ignored until the first other
// value. timed:   the values of the last averages_window seconds, so that silence ages them (case A07). The
// window is kept in
//          twelve slices: a value leaves between window*11/12 and window after it came.
// Empty: 0. Adding costs O(1), amortised, and allocates nothing. `now` never decreases.
#pragma once

#include <array>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/policy.hpp"
#include "core/units.hpp"

namespace dynaplan::model {

// A value of a window as it stands, and as it will stand once the newest slice of the window is over and
// nothing else has come.
struct Ageing {
    double now = 0.0;
    double next = 0.0;
};

class CountedAverage {
public:
    explicit CountedAverage(std::int64_t window = 1);
    void add(double value) {
        if (!seen_nonzero_) {
            if (value == 0.0) return;
            seen_nonzero_ = true;
        }
        if (sum_follows_) follow(value);
        ring_[static_cast<std::size_t>(next_)] = value;
        if (++next_ == static_cast<std::int64_t>(ring_.size())) next_ = 0;
        if (length_ < static_cast<std::int64_t>(ring_.size())) ++length_;
    }
    [[nodiscard]] double value() const {
        if (length_ == 0) return 0.0;
        if (!sum_follows_) sum_afresh();
        unasked_ = 0;
        const double total = sum_ + error_ + (nonfinite_ > 0 ? nonfinite_sum() : 0.0);
        return total / static_cast<double>(length_);
    }
    [[nodiscard]] std::int64_t length() const { return length_; }

    template <class Archive>
    void archive(Archive& a) {
        a(ring_, next_, length_, seen_nonzero_, sum_follows_, unasked_, sum_, error_, nonfinite_);
    }

private:
    void follow(double value);
    [[nodiscard]] double nonfinite_sum() const;
    void sum_afresh() const;

    std::vector<double> ring_;
    std::int64_t next_ = 0;
    std::int64_t length_ = 0;
    bool seen_nonzero_ = false;
    // The sum follows every value while somebody asks for it; when a whole window has come unasked it is left
    // behind, and the next question sums afresh.
    mutable bool sum_follows_ = true;
    mutable std::int64_t unasked_ = 0;  // values since the sum was last asked for
    mutable double sum_ =
        0.0;  // of the finite values, with its rounding error beside it: removal leaves no drift
    mutable double error_ = 0.0;
    mutable std::int64_t nonfinite_ = 0;
};

class TimedAverage {
public:
    static constexpr std::size_t slices = 12;
    explicit TimedAverage(Seconds window = Seconds{60.0});
    void add(double value, TimePoint now) {
        advance(now);
        in_all_.add(value);
        slices_[place_].add(value);
    }
    [[nodiscard]] double value(TimePoint now) const;
    [[nodiscard]] double sum(TimePoint now) const;
    [[nodiscard]] Ageing ageing_value(TimePoint now) const;
    [[nodiscard]] Ageing ageing_sum(TimePoint now) const;
    // How far back the values reach that are still in: eleven whole slices and the part of the newest.
    [[nodiscard]] static Seconds covered(Seconds window, TimePoint now);

    template <class Archive>
    void archive(Archive& a) {
        a(in_all_, slice_, slices_);
        if constexpr (Archive::reading) place_ = place_of(slice_);
    }

private:
    struct Part {
        double sum = 0.0;
        std::int64_t count = 0;
        void add(double value) {
            sum += value;
            ++count;
        }
        [[nodiscard]] double mean() const { return count == 0 ? 0.0 : sum / static_cast<double>(count); }
        template <class Archive>
        void archive(Archive& a) {
            a(sum, count);
        }
    };
    void advance(TimePoint now) const {
        const double position = seconds_of(now) * slices_per_second_;
        if (position >= static_cast<double>(slice_ + 1)) turn(position);  // else still in the newest slice
    }
    void turn(double position) const;
    static std::size_t place_of(std::int64_t slice);
    [[nodiscard]] Part without_leaving() const;  // once the next slice has come

    double slices_per_second_;
    mutable std::int64_t slice_ = 0;  // number of the newest slice
    mutable std::size_t place_ = 0;   // and where it is kept
    mutable Part in_all_;
    mutable std::array<Part, slices> slices_{};
};

class Average {
public:
    static Average of(Averages kind, std::int64_t window_values, Seconds window);
    void add(double value, TimePoint now) {
        if (auto* timed = std::get_if<TimedAverage>(&kind_)) {
            timed->add(value, now);
        } else {
            std::get_if<CountedAverage>(&kind_)->add(value);
        }
    }
    [[nodiscard]] double value(TimePoint now) const {
        if (const auto* timed = std::get_if<TimedAverage>(&kind_)) return timed->value(now);
        return std::get_if<CountedAverage>(&kind_)->value();
    }
    [[nodiscard]] Ageing ageing_value(TimePoint now) const {
        if (const auto* timed = std::get_if<TimedAverage>(&kind_)) return timed->ageing_value(now);
        const double value = std::get_if<CountedAverage>(&kind_)->value();
        return {value, value};
    }

    template <class Archive>
    void archive(Archive& a) {
        std::visit([&a](auto& average) { average.archive(a); },
                   kind_);  // the kind is configuration, not state
    }

private:
    std::variant<CountedAverage, TimedAverage> kind_;
};

}  // namespace dynaplan::model
