// A bound on how often something may happen: a bucket that holds up to `burst` tokens and fills at a steady
// rate.
#pragma once

#include <algorithm>
#include <chrono>

namespace dynaplan::net {

class TokenBucket {
public:
    using Time = std::chrono::steady_clock::time_point;

    // `per_second` 0: no bound.
    TokenBucket(double per_second, double burst) : per_second_{per_second}, burst_{burst}, tokens_{burst} {}

    // One token, when there is one. Time is handed in and does not run backwards.
    bool take(Time now) {
        if (per_second_ <= 0) return true;
        if (last_ != Time{}) {
            const double elapsed_s = std::chrono::duration<double>(now - last_).count();
            tokens_ = std::min(burst_, tokens_ + std::max(0.0, elapsed_s) * per_second_);
        }
        last_ = now;
        if (tokens_ < 1) return false;
        tokens_ -= 1;
        return true;
    }

private:
    double per_second_;
    double burst_;
    double tokens_;
    Time last_{};
};

}  // namespace dynaplan::net
