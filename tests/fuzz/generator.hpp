// Seeded inputs for the corpus test: messages as producers write them, messages as nobody writes them, and
// damaged ones. The same seed gives the same bytes everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dynaplan::fuzz {

// SplitMix64: small, and good enough to vary inputs.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : state_{seed} {}
    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31U);
    }
    std::uint64_t below(std::uint64_t n) { return bits() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

// An FPM message: mostly sound, with every header width, any key order, repeated and unknown keys, wrong
// types now and then.
std::string random_message(Dice& dice);
// The same bytes with a few changes: bits flipped, bytes put in or taken out, the end cut off.
std::string damaged(std::string bytes, Dice& dice);

}  // namespace dynaplan::fuzz
