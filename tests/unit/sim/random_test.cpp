#include "sim/random.hpp"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

using dynaplan::sim::Random;

TEST_CASE("random: one seed gives one sequence, another seed another") {
    Random a{7};
    Random b{7};
    Random c{8};
    bool differs = false;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t x = a.bits();
        CHECK(x == b.bits());
        differs = differs || x != c.bits();
    }
    CHECK(differs);
}

TEST_CASE("random: a fork neither depends on its brothers nor moves its parent") {
    const Random parent{3};
    Random first = parent.fork(1);
    Random second = parent.fork(2);
    Random again = parent.fork(1);
    CHECK(first.bits() == again.bits());
    CHECK(first.bits() != second.bits());
}

TEST_CASE("random: moments are those of the distributions") {
    Random r{11};
    constexpr int n = 200'000;
    double uniform = 0.0;
    double exponential = 0.0;
    double normal = 0.0;
    double squares = 0.0;
    double lognormal = 0.0;
    bool in_range = true;
    for (int i = 0; i < n; ++i) {
        const double u = r.uniform();
        in_range = in_range && u >= 0.0 && u < 1.0;
        uniform += u;
        exponential += r.exponential();
        const double z = r.normal();
        normal += z;
        squares += z * z;
        lognormal += r.lognormal(0.5);
    }
    CHECK(in_range);
    // Five standard errors of each mean.
    CHECK(std::abs(uniform / n - 0.5) < 5 * 0.289 / std::sqrt(n));
    CHECK(std::abs(exponential / n - 1.0) < 5 * 1.0 / std::sqrt(n));
    CHECK(std::abs(normal / n) < 5 * 1.0 / std::sqrt(n));
    CHECK(std::abs(squares / n - 1.0) < 5 * 1.42 / std::sqrt(n));
    CHECK(std::abs(lognormal / n - 1.0) < 5 * 0.54 / std::sqrt(n));
}
