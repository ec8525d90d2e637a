#include "model/moments.hpp"

namespace dynaplan::model {

namespace {

// Both halves are exact and their sum is rounded once: what a cast says, without the library call that it is.
long double extended(Int128 x) {
    constexpr int half = 64;
    return static_cast<long double>(static_cast<std::int64_t>(x >> half)) * 0x1p64L +
           static_cast<long double>(static_cast<std::uint64_t>(x));
}

// n*sum - a*b for a sum of up to 126 bits, n and a of up to 12 and 40 bits: the products pass 128 bits, so
// both are split at bit 64 and subtracted part by part.
long double scaled_difference(std::int64_t n, Int128 sum, std::int64_t a, Int128 b) {
    constexpr int half = 64;
    const Int128 mask = (static_cast<Int128>(1) << half) - 1;
    Int128 high = n * (sum >> half) - a * (b >> half);
    Int128 low = n * (sum & mask) - a * (b & mask);
    high += low >> half;
    low &= mask;
    return extended(high) * 0x1p64L + static_cast<long double>(static_cast<std::uint64_t>(low));
}

}  // namespace

Moments RunningSums::moments() const {
    Moments m;
    m.n = n_;
    m.exact_spread_0 = n_ * square_0_ - static_cast<Int128>(sum_0_) * sum_0_;
    m.spread_0 = extended(m.exact_spread_0);
    m.with_wall_0 = scaled_difference(n_, wall_0_, sum_0_, wall_) * 0x1p-80L;
    m.sum_0 = static_cast<long double>(sum_0_);
    m.sum_wall = extended(wall_) * 0x1p-80L;
    if (square_1_ == 0) return m;  // no second feature, or nothing but zeros
    m.exact_spread_1 = n_ * square_1_ - static_cast<Int128>(sum_1_) * sum_1_;
    m.exact_cross = n_ * product_ - static_cast<Int128>(sum_0_) * sum_1_;
    m.spread_1 = extended(m.exact_spread_1);
    m.cross = extended(m.exact_cross);
    m.with_wall_1 = scaled_difference(n_, wall_1_, sum_1_, wall_) * 0x1p-80L;
    m.sum_1 = static_cast<long double>(sum_1_);
    return m;
}

}  // namespace dynaplan::model
