// A small generator of its own: the standard distributions give other numbers with other libraries, and a
// seed has to mean the same run everywhere. xoshiro256** (Blackman and Vigna, 2018) seeded by splitmix64, as
// its authors advise. One stream for each purpose (fork), so that drawing more for one does not change
// another.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace dynaplan::sim {

class Random {
public:
    explicit Random(std::uint64_t seed) {
        for (std::uint64_t& word : state_) word = splitmix64(seed);
    }

    // A stream of its own for the given purpose; the parent is not advanced.
    [[nodiscard]] Random fork(std::uint64_t purpose) const {
        std::uint64_t mixed = state_[0] ^ (purpose * 0x9e3779b97f4a7c15U);
        return Random{splitmix64(mixed)};
    }

    std::uint64_t bits() {
        const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
        const std::uint64_t t = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= t;
        state_[3] = rotate(state_[3], 45);
        return result;
    }
    // [0, 1): the upper 53 bits, which is what a double holds.
    double uniform() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }
    bool chance(double probability) { return uniform() < probability; }
    // Mean 1; times 1/rate it is the gap between two arrivals of a Poisson process.
    double exponential() { return -std::log1p(-uniform()); }
    // Mean 0, deviation 1 (Box and Muller; the second value of the pair is not kept).
    double normal() {
        const double radius = std::sqrt(2.0 * exponential());
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }
    // Mean 1, the logarithm having the given deviation.
    double lognormal(double sigma) { return std::exp(sigma * normal() - 0.5 * sigma * sigma); }

private:
    static std::uint64_t splitmix64(std::uint64_t& x) {
        x += 0x9e3779b97f4a7c15U;
        std::uint64_t z = x;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }
    static std::uint64_t rotate(std::uint64_t x, unsigned by) { return (x << by) | (x >> (64U - by)); }

    std::array<std::uint64_t, 4> state_{};
};

}  // namespace dynaplan::sim
