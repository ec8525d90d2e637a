// Centred second moments of the samples in a window, and the running sums that give them without touching a
// sample.
//
// FPM features are integers and a wall time is a double; both are summed as integers, so that taking a sample
// out undoes putting it in exactly and a rank test compares exact numbers (docs/adr/0007). Wall times are
// fixed-point numbers with 68 fractional bits: exact for every double of 16 us and more, cut off at 3e-21 s
// below, and no product of the limits below passes 128 bits. Samples outside the limits are counted instead
// of summed; while there is one, the window is summed afresh in extended precision.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace dynaplan::model {

using Int128 = __int128;

// n times the centred sums: spread = n*sum(x*x) - sum(x)*sum(x), and so on. Scaled alike, they have the same
// solution.
struct Moments {
    std::int64_t n = 0;
    long double spread_0 = 0, spread_1 = 0, cross = 0;  // of the features
    long double with_wall_0 = 0, with_wall_1 = 0;       // of features and wall time, seconds
    long double sum_0 = 0, sum_1 = 0, sum_wall = 0;     // plain sums
    bool finite = true;
    bool exact = true;  // spreads and cross hold integers, rounded once
    Int128 exact_spread_0 = 0, exact_spread_1 = 0, exact_cross = 0;
};

class RunningSums {
public:
    static constexpr std::int64_t feature_limit = std::int64_t{1} << 28;  // tokens in one pass
    static constexpr double wall_limit = 64.0;                            // seconds
    static constexpr std::int64_t count_limit = 4096;                     // samples in a window
    static constexpr int wall_bits = 68;  // fractional; 6 + 28 + 2 * 12 bits of the limits beside them

    void add(std::int64_t x0, std::int64_t x1, double wall) { change<+1>(x0, x1, wall); }
    void remove(std::int64_t x0, std::int64_t x1, double wall) { change<-1>(x0, x1, wall); }

    // True when every sample in the window is inside the limits, so that moments() is exact.
    [[nodiscard]] bool usable() const { return outside_ == 0 && n_ <= count_limit; }
    [[nodiscard]] Moments moments() const;

    template <class Archive>
    void archive(Archive& a) {
        a(n_, outside_, sum_0_, sum_1_, square_0_, square_1_, product_, wall_, wall_0_, wall_1_);
    }

private:
    template <int sign>
    void change(std::int64_t x0, std::int64_t x1, double wall) {
        n_ += sign;
        if (!inside(x0) || !inside(x1) || !(std::abs(wall) < wall_limit)) {
            outside_ += sign;
            return;
        }
        const Int128 y = fixed(wall);
        // Products of two features have at most 56 bits: they are formed narrow and summed wide.
        sum_0_ += sign * x0;
        square_0_ += sign * (x0 * x0);
        wall_ += sign * y;
        wall_0_ += sign * (y * x0);
        if (x1 == 0) return;  // always so in a model of one feature
        sum_1_ += sign * x1;
        square_1_ += sign * (x1 * x1);
        product_ += sign * (x0 * x1);
        wall_1_ += sign * (y * x1);
    }
    static bool inside(std::int64_t x) { return x >= 0 && x < feature_limit; }
    // wall * 2^wall_bits, truncated towards zero: what a cast says, without the library call that it is.
    static Int128 fixed(double wall) {
        constexpr int mantissa_bits = 52;
        constexpr std::int64_t exponent_mask = 0x7ff;
        constexpr std::int64_t bias = 1023;
        const auto bits = std::bit_cast<std::int64_t>(wall);
        const std::int64_t exponent = (bits >> mantissa_bits) & exponent_mask;
        if (exponent == 0) return 0;  // zero, or far below what is kept
        const std::int64_t one = std::int64_t{1} << mantissa_bits;
        const Int128 mantissa = (bits & (one - 1)) | one;
        const std::int64_t shift = exponent - bias - mantissa_bits + wall_bits;
        constexpr std::int64_t shift_least = -(mantissa_bits + 1);
        const Int128 size = shift >= 0 ? mantissa << shift : mantissa >> -std::max(shift, shift_least);
        return bits < 0 ? -size : size;
    }

    std::int64_t n_ = 0;
    std::int64_t outside_ = 0;
    std::int64_t sum_0_ = 0, sum_1_ = 0;
    Int128 square_0_ = 0, square_1_ = 0, product_ = 0;
    Int128 wall_ = 0, wall_0_ = 0, wall_1_ = 0;
};

}  // namespace dynaplan::model
