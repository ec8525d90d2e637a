// Mean and population variance of counts in one pass (Welford). Engines report the variance of prompt and
// context lengths this way; the simulator does too.
#pragma once

#include <cstdint>

namespace dynaplan::model {

class Welford {
public:
    void add(std::int64_t value) {
        ++count_;
        sum_ += value;
        const auto x = static_cast<double>(value);
        const double from_old_mean = x - mean_;
        mean_ += from_old_mean / static_cast<double>(count_);
        squares_ += from_old_mean * (x - mean_);
    }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] std::int64_t sum() const { return sum_; }
    [[nodiscard]] double variance() const {
        return count_ == 0 ? 0.0 : squares_ / static_cast<double>(count_);
    }

private:
    std::int64_t count_ = 0;
    std::int64_t sum_ = 0;
    double mean_ = 0.0;
    double squares_ = 0.0;
};

}  // namespace dynaplan::model
