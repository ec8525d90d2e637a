#include "sim/pass_time.hpp"

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::sim;

TEST_CASE("pass time: affine is the sum of its terms") {
    PassTime p;
    p.affine = {Seconds{0.01}, Seconds{2e-5}, Seconds{1e-4}, Seconds{1e-7}};
    CHECK(p.of({1000, 0, 0}).count() == doctest::Approx(0.03));
    CHECK(p.of({0, 10, 20'000}).count() == doctest::Approx(0.013));
    CHECK(p.of({1000, 10, 20'000}).count() == doctest::Approx(0.033));
}

TEST_CASE("pass time: a curve is linear between its points and goes on beyond them") {
    PassTime p;
    p.affine.base = Seconds{0.001};
    p.prefill.points = {{100, Seconds{0.01}}, {200, Seconds{0.02}}, {400, Seconds{0.1}}};
    CHECK(p.of({150, 0, 0}).count() == doctest::Approx(0.016));
    CHECK(p.of({200, 0, 0}).count() == doctest::Approx(0.021));
    CHECK(p.of({300, 0, 0}).count() == doctest::Approx(0.061));
    CHECK(p.of({500, 0, 0}).count() == doctest::Approx(0.141));
    p.prefill.points.resize(1);
    CHECK(p.of({9'000, 0, 0}).count() == doctest::Approx(0.011));
}

TEST_CASE("pass time: the decode table is linear in requests and KV tokens") {
    PassTime p;
    p.affine.base = Seconds{0.0};
    p.decode.rows = {{0, {{{0, Seconds{0.01}}, {1000, Seconds{0.02}}}}},
                     {10, {{{0, Seconds{0.03}}, {1000, Seconds{0.06}}}}}};
    CHECK(p.of({0, 5, 500}).count() == doctest::Approx(0.03));
    CHECK(p.of({0, 10, 1000}).count() == doctest::Approx(0.06));
}

TEST_CASE("pass time: no pass takes no time") {
    PassTime p;
    p.affine = {Seconds{0.0}, Seconds{0.0}, Seconds{0.0}, Seconds{0.0}};
    CHECK(p.of({1, 0, 0}) == PassTime::shortest);
}

TEST_CASE("pass time: what cannot be used is named") {
    PassTime p;
    CHECK(problems(p).empty());
    p.affine.per_kv_token = Seconds{-1.0};
    CHECK(problems(p).size() == 1);
    p.prefill.points = {{100, Seconds{0.01}}, {100, Seconds{0.02}}};
    CHECK(problems(p).size() == 2);
    p.decode.rows = {{5, {}}};
    CHECK(problems(p).size() == 3);
}
