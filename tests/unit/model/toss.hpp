// Numbers for property tests: the same on every machine, from a seed (splitmix64).
#pragma once

#include <cstdint>

namespace dynaplan::model {

class Toss {
public:
    explicit Toss(std::uint64_t seed) : state_{seed} {}
    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
    }

private:
    std::uint64_t state_;
};

}  // namespace dynaplan::model
