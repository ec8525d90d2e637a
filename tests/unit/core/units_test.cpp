#include "core/units.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "core/archive.hpp"

using namespace dynaplan;

namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
    a < b;
};
template <class A, class B>
concept Multipliable = requires(A a, B b) {
    a* b;
};
template <class Clock>
concept CanBeAsked = requires {
    Clock::now();
};

// What must not compile is the purpose of these types, so the compiler is asked.
static_assert(!std::convertible_to<std::int64_t, Replicas>);
static_assert(!std::convertible_to<Replicas, std::int64_t>);
static_assert(!std::convertible_to<Replicas, Gpus> && !std::constructible_from<Gpus, Replicas>);
static_assert(!Addable<Replicas, Gpus> && !Comparable<Replicas, Gpus> && !Addable<Replicas, std::int64_t>);
static_assert(Addable<Replicas, Replicas> && Comparable<Gpus, Gpus>);
static_assert(Multipliable<Replicas, Gpus> && !Multipliable<Replicas, Replicas> && !Multipliable<Gpus, Gpus>);
static_assert(!std::convertible_to<double, Seconds> && !std::convertible_to<Seconds, double>);
static_assert(!CanBeAsked<PlannerClock> && CanBeAsked<std::chrono::steady_clock>);

}  // namespace

TEST_CASE("units: replicas times the GPUs of one are GPUs") {
    constexpr Gpus all = Replicas{3} * Gpus{8};
    CHECK(all == Gpus{24});
}

TEST_CASE("units: counts of one kind add, subtract and compare") {
    CHECK(Replicas{2} + Replicas{3} == Replicas{5});
    CHECK((Replicas{2} - Replicas{3}).count() == -1);
    CHECK(Replicas{2} < Replicas{3});
    CHECK(Replicas{} == Replicas{0});
}

TEST_CASE("units: replica counts beyond 32 bits are kept") {
    constexpr std::int64_t large = std::int64_t{1} << 53;
    CHECK((Replicas{large} + Replicas{1}).count() == large + 1);
}

TEST_CASE("units: milliseconds and seconds convert into each other") {
    CHECK(Seconds{Millis{500.0}}.count() == 0.5);
    CHECK(Millis{Seconds{0.05}}.count() == doctest::Approx(50.0));
    CHECK(Millis{499.0} < Seconds{0.5});
}

TEST_CASE("units: a time is the double that it was made of") {
    for (const double t : {0.0, 0.1, 5.000000000000001, 1.7e9, -1.0}) {
        CHECK(seconds_of(at_seconds(t)) == t);
    }
    CHECK(at_seconds(180.0) + Seconds{0.5} == at_seconds(180.5));
    CHECK(at_seconds(7.5) - at_seconds(5.0) == Seconds{2.5});
}

TEST_CASE("units: a count is archived as its number") {
    Replicas three{3};
    StateWriter writer;
    writer(three);
    std::int64_t number = 3;
    StateWriter plain;
    plain(number);
    CHECK(writer.take() == plain.take());
}
