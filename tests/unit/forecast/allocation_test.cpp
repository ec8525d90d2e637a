// A value is taken without touching the heap: this file counts the binary's allocations.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "forecast/predictor.hpp"

namespace {
long allocations = 0;
}

void* operator new(std::size_t size) {
    ++allocations;
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc{};
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace dynaplan::forecast {
namespace {

TEST_CASE("predictor: adding and predicting allocate nothing") {
    for (const auto kind : {LoadPredictor::constant, LoadPredictor::kalman}) {
        PlannerConfig config = config_of(Preset::dynaplan);
        config.load_predictor = kind;
        const long before_making = allocations;
        const auto p = make_predictor(config);
        REQUIRE(allocations > before_making);  // the counter counts
        const long before = allocations;
        double sum = 0.0;
        for (int i = 0; i < 1000; ++i) {
            p->add(100.0 + i % 7);
            sum += p->predict().value();
        }
        const long after = allocations;
        CHECK(after == before);
        CHECK(sum > 0.0);
    }
}

}  // namespace
}  // namespace dynaplan::forecast
