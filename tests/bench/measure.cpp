// Passes of a row to one figure, and the allocation counter.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "bench/row.hpp"

namespace {
std::int64_t allocations = 0;  // the benchmark has one thread
}

void* operator new(std::size_t size) {
    ++allocations;
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc{};
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return std::malloc(size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace dynaplan::bench {

double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::int64_t allocations_so_far() { return allocations; }

Figure measure(const Row& row, bool quick) {
    const std::function<Pass()> pass = row.prepare(quick);
    Figure figure{row.name, row.unit, 0.0, 0.0, 0.0, 0, std::nullopt, row.reference, row.target};
    figure.passes = quick ? 1 : row.passes;
    std::vector<double> values;
    for (int i = 0; i < figure.passes; ++i) {
        const Pass p = pass();
        values.push_back(p.value);
        if (p.allocations) figure.allocations = std::max(figure.allocations.value_or(0.0), *p.allocations);
    }
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    figure.median = (values[(n - 1) / 2] + values[n / 2]) / 2.0;
    figure.least = values.front();
    figure.most = values.back();
    return figure;
}

}  // namespace dynaplan::bench
