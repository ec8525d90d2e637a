#include "model/moments.hpp"

namespace dynaplan::model {

namespace {

// Most sums fit into 64 bits. Else both halves are exact and their sum is rounded once: what a cast says,
// without the library call that it is.
long double extended(Int128 x) {
    constexpr int half = 64;
    const auto low = static_cast<std::int64_t>(x);
    if (x == low) return static_cast<long double>(low);
    return static_cast<long double>(static_cast<std::int64_t>(x >> half)) * 0x1p64L +
           static_cast<long double>(static_cast<std::uint64_t>(x));
}

constexpr long double wall_unit = 0x1p-68L;
static_assert(RunningSums::wall_bits == 68);

}  // namespace

// Every member is written once, none is cleared before: clearing a structure of this size takes longer than
// the sums do.
Moments RunningSums::moments() const {
    const bool second = square_1_ != 0;  // there is a second feature, and not only zeros
    const Int128 spread_0 = n_ * square_0_ - static_cast<Int128>(sum_0_) * sum_0_;
    const Int128 spread_1 = second ? n_ * square_1_ - static_cast<Int128>(sum_1_) * sum_1_ : 0;
    const Int128 cross = second ? n_ * product_ - static_cast<Int128>(sum_0_) * sum_1_ : 0;
    return Moments{.n = n_,
                   .spread_0 = extended(spread_0),
                   .spread_1 = second ? extended(spread_1) : 0.0L,
                   .cross = second ? extended(cross) : 0.0L,
                   .with_wall_0 = extended(n_ * wall_0_ - sum_0_ * wall_) * wall_unit,
                   .with_wall_1 = second ? extended(n_ * wall_1_ - sum_1_ * wall_) * wall_unit : 0.0L,
                   .sum_0 = static_cast<long double>(sum_0_),
                   .sum_1 = static_cast<long double>(sum_1_),
                   .sum_wall = extended(wall_) * wall_unit,
                   .finite = true,
                   .exact = true,
                   .exact_spread_0 = spread_0,
                   .exact_spread_1 = spread_1,
                   .exact_cross = cross};
}

}  // namespace dynaplan::model
