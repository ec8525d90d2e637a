#include "model/sample_store.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "toss.hpp"

using namespace dynaplan;
using namespace dynaplan::model;

namespace {

StoreSettings settings(std::int64_t window, std::int64_t buckets, Retirement r, AxisBounds b) {
    StoreSettings s;
    s.window = window;
    s.buckets = buckets;
    s.retirement = r;
    s.axis_bounds = b;
    return s;
}

std::vector<std::int64_t> kept(const SampleStore& store) {
    std::vector<std::int64_t> x;
    store.each_by_bucket([&](std::uint32_t, const SampleStore::Sample& s) { x.push_back(s.x[0]); });
    std::sort(x.begin(), x.end());
    return x;
}

// 1 and 10 share a bucket, 100 has one of its own, until 1,000 moves the bounds and all three are together.
void add_moving_bounds(SampleStore& store) {
    for (const std::int64_t x : {1, 100, 10, 1000, 20, 30}) store.add(x, 0, 0.1);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("sample store: the oldest sample of the fullest bucket retires") {
        SampleStore store{settings(4, 4, Retirement::oldest, AxisBounds::reference)};
        add_moving_bounds(store);
        CHECK(kept(store) == std::vector<std::int64_t>{10, 20, 30, 1000});
    }

    TEST_CASE("sample store: the reference's oldest follows its walk of the old buckets") {
        SampleStore store{settings(4, 4, Retirement::reference, AxisBounds::reference)};
        add_moving_bounds(store);
        CHECK(kept(store) == std::vector<std::int64_t>{20, 30, 100, 1000});
    }

    TEST_CASE("sample store: a rare operating point outlives any number of common ones") {
        SampleStore store{settings(8, 4, Retirement::oldest, AxisBounds::robust)};
        for (const std::int64_t x : {1000, 2000, 3000}) store.add(x, 0, 0.1);
        for (int i = 0; i < 200; ++i) store.add(4000, 0, 0.2);
        CHECK(store.size() == 8);
        CHECK(kept(store).front() == 1000);
    }

    TEST_CASE("sample store: robust bounds do not collapse when nearly all samples are alike") {
        SampleStore store{settings(64, 16, Retirement::oldest, AxisBounds::robust)};
        for (const std::int64_t x : {8000, 16000, 24000, 28000}) store.add(x, 0, 0.1);
        for (int i = 0; i < 1000; ++i) store.add(32000, 0, 0.2);
        CHECK(kept(store).front() == 8000);
    }

    TEST_CASE("sample store: reference bounds never shrink, robust ones leave one outlier outside") {
        SampleStore reference{settings(64, 4, Retirement::oldest, AxisBounds::reference)};
        SampleStore robust{settings(64, 4, Retirement::oldest, AxisBounds::robust)};
        for (SampleStore* store : {&reference, &robust}) {
            store->add(1'000'000, 0, 0.1);
            for (int i = 0; i < 80; ++i) store->add(1000 + 100 * (i % 20), 0, 0.1);
        }
        CHECK(reference.axis_max(0) == 1'000'000.0);
        CHECK(robust.axis_max(0) < 10'000.0);
        CHECK(robust.axis_min(0) >= 1000.0);
    }

    TEST_CASE("sample store: the smallest wall time follows the window") {
        SampleStore store{settings(2, 1, Retirement::oldest, AxisBounds::reference)};
        CHECK(store.wall_min() == std::numeric_limits<double>::infinity());
        store.add(1, 0, 0.1);
        store.add(2, 0, 0.3);
        CHECK(store.wall_min() == 0.1);
        store.add(3, 0, 0.2);
        CHECK(store.wall_min() == 0.2);
    }

    TEST_CASE("sample store: running sums are those of the samples that are in it, whatever went in before") {
        for (const auto retirement : {Retirement::oldest, Retirement::reference}) {
            for (const auto bounds : {AxisBounds::reference, AxisBounds::robust}) {
                StoreSettings s = settings(16, 16, retirement, bounds);
                s.features = 2;
                SampleStore store{s};
                Toss toss{7};
                for (int i = 0; i < 2000; ++i) {
                    store.add(toss.below(200), toss.below(500'000), 0.001 + toss.unit());
                    REQUIRE(store.size() == std::min(i + 1, 16));
                    if (toss.below(25) == 0) CHECK(store.moments().n == store.size());  // asked now and then
                }
                RunningSums fresh;
                store.each_by_bucket([&](std::uint32_t, const SampleStore::Sample& sample) {
                    fresh.add(sample.x[0], sample.x[1], sample.wall);
                });
                const Moments got = store.moments();
                const Moments want = fresh.moments();
                CHECK(got.n == 16);
                CHECK(got.exact);
                CHECK(got.spread_0 == want.spread_0);
                CHECK(got.spread_1 == want.spread_1);
                CHECK(got.cross == want.cross);
                CHECK(got.with_wall_0 == want.with_wall_0);
                CHECK(got.with_wall_1 == want.with_wall_1);
                CHECK(got.sum_wall == want.sum_wall);
            }
        }
    }

    TEST_CASE("sample store: a sample that is not finite is counted, and its end is the end of it") {
        SampleStore store{settings(2, 1, Retirement::oldest, AxisBounds::reference)};
        store.add(1, 0, std::numeric_limits<double>::quiet_NaN());
        store.add(2, 0, 0.2);
        CHECK_FALSE(store.moments().finite);
        store.add(3, 0, 0.3);
        CHECK(store.moments().finite);
        CHECK(store.moments().exact);
    }
}
