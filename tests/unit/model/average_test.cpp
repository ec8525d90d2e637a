#include "model/average.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::model;

TEST_SUITE("unit") {
    TEST_CASE("counted average: zeros before the first value are ignored, later ones count") {
        CountedAverage a{4};
        CHECK(a.value() == 0.0);
        a.add(0.0);
        a.add(0.0);
        CHECK(a.length() == 0);
        a.add(6.0);
        CHECK(a.value() == 6.0);
        a.add(0.0);
        CHECK(a.value() == 3.0);
    }

    TEST_CASE("counted average: the last N values, with no drift from those that left") {
        CountedAverage a{2};
        a.add(1e16);
        a.add(1.0);
        a.add(2.0);
        a.add(4.0);
        CHECK(a.value() == 3.0);
    }

    TEST_CASE("counted average: a value that is not finite shows, and leaves with its turn") {
        CountedAverage a{2};
        a.add(std::numeric_limits<double>::infinity());
        a.add(1.0);
        CHECK(a.value() == std::numeric_limits<double>::infinity());
        a.add(3.0);
        CHECK(a.value() == 2.0);
    }

    TEST_CASE("counted average: the same whether it is asked after each value, now and then, or at last") {
        CountedAverage always{64};
        CountedAverage seldom{64};
        CountedAverage never{64};
        for (int i = 0; i < 1000; ++i) {
            const double value = 0.1 * static_cast<double>((i * 7919) % 1013);
            for (CountedAverage* a : {&always, &seldom, &never}) a->add(value);
            const double mean = always.value();
            if (i % 97 == 0 || i % 150 < 3) CHECK(seldom.value() == doctest::Approx(mean).epsilon(1e-14));
        }
        CHECK(never.value() == doctest::Approx(always.value()).epsilon(1e-14));
        CHECK(seldom.value() == doctest::Approx(always.value()).epsilon(1e-14));
    }

    TEST_CASE("timed average: what it will say in the next slice is what it then says") {
        TimedAverage a{Seconds{60.0}};
        for (int i = 0; i < 500; ++i) {
            const double now = 0.9 * i;
            a.add(1.0 + i % 13, at_seconds(now));
            const Ageing mean = a.ageing_value(at_seconds(now));
            const Ageing sum = a.ageing_sum(at_seconds(now));
            TimedAverage later = a;
            const double next = 5.0 * (static_cast<double>(static_cast<int>(now / 5.0)) + 1.5);
            CHECK(mean.now == a.value(at_seconds(now)));
            CHECK(mean.next == doctest::Approx(later.value(at_seconds(next))).epsilon(1e-14));
            CHECK(sum.next == doctest::Approx(later.sum(at_seconds(next))).epsilon(1e-14));
        }
    }

    TEST_CASE("timed average: silence empties it within the window") {
        TimedAverage a{Seconds{60.0}};
        a.add(10.0, at_seconds(0.0));
        a.add(20.0, at_seconds(30.0));
        CHECK(a.value(at_seconds(40.0)) == 15.0);
        CHECK(a.value(at_seconds(65.0)) == 20.0);
        CHECK(a.value(at_seconds(95.0)) == 0.0);
        a.add(7.0, at_seconds(1000.0));
        CHECK(a.value(at_seconds(1000.0)) == 7.0);
    }

    TEST_CASE("timed average: a value leaves between eleven twelfths of the window and the window") {
        for (int i = 0; i < 60; ++i) {
            const double start = 1000.0 + 0.37 * i;
            TimedAverage a{Seconds{60.0}};
            a.add(1.0, at_seconds(start));
            CHECK(a.value(at_seconds(start + 54.9)) == 1.0);
            CHECK(a.value(at_seconds(start + 60.1)) == 0.0);
        }
    }

    TEST_CASE("average: the kind is the policy's") {
        Average counted = Average::of(Averages::counted, 8, Seconds{60.0});
        Average timed = Average::of(Averages::timed, 8, Seconds{60.0});
        counted.add(5.0, at_seconds(0.0));
        timed.add(5.0, at_seconds(0.0));
        CHECK(counted.value(at_seconds(600.0)) == 5.0);
        CHECK(timed.value(at_seconds(600.0)) == 0.0);
    }
}
