// A report is decoded and admitted without touching the heap: this file counts the binary's allocations.
#include <doctest/doctest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "fpm_bytes.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_encode.hpp"
#include "wire/fpm_json.hpp"
#include "wire/fpm_trace.hpp"

namespace {
long allocations = 0;
}

// For the other allocation tests of this binary, which declare it themselves.
namespace dynaplan::wire::test {
long allocations_so_far() { return allocations; }
}  // namespace dynaplan::wire::test

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
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace dynaplan::wire {
namespace {

template <class Work>
long allocations_of(const Work& work) {
    const long before = allocations;
    for (int i = 0; i < 100; ++i) work();
    return allocations - before;
}

TEST_CASE("allocations: a used message object decodes, in either order of keys, and admits without any") {
    Fpm fpm = test::sample_fpm();
    fpm.worker_id = "an opaque worker id that is longer than any short string";
    std::string bytes;
    encode_fpm(fpm, bytes);
    DecodedFpm message;
    long first = allocations;
    REQUIRE(decode_fpm(bytes, message).has_value());
    first = allocations - first;
    CHECK(first == 1);  // the counter counts: room for the id
    bool good = true;
    CHECK(allocations_of([&] {
              good = good && decode_fpm(bytes, message) && decode_fpm_any_order(bytes, message) &&
                     admit(message);
          }) == 0);
    CHECK(good);
    // Refusals cost none either.
    const std::string cut = bytes.substr(0, bytes.size() - 1);
    CHECK(allocations_of([&] { good = good && !decode_fpm(cut, message); }) == 0);
    CHECK(good);
}

TEST_CASE("allocations: readers of JSON keep their buffers") {
    TraceRecord record;
    record.component = "a component with a name that is not short";
    record.fpm = test::sample_fpm();
    std::string line;
    append_trace_line(line, record);
    TraceLineParser parser;
    TraceRecord read;
    REQUIRE(parser.parse(line, read).has_value());
    bool good = true;
    CHECK(allocations_of([&] { good = good && parser.parse(line, read); }) == 0);
    CHECK(good);

    std::string text;
    append_fpm_json(text, record.fpm);
    FpmJsonReader reader;
    Fpm fpm;
    REQUIRE(reader.read(text, fpm).has_value());
    CHECK(allocations_of([&] { good = good && reader.read(text, fpm); }) == 0);
    CHECK(good);
    CHECK(allocations_of([&] {
              text.clear();
              append_fpm_json(text, fpm);
          }) == 0);
}

}  // namespace
}  // namespace dynaplan::wire
