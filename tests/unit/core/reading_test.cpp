#include "core/reading.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/archive.hpp"

using namespace dynaplan;

namespace {

template <class T>
std::string saved(Reading<T> reading) {
    StateWriter writer;
    writer(reading);
    return writer.take();
}

}  // namespace

TEST_CASE("reading: nothing heard yet is unknown") {
    const Reading<double> reading;
    CHECK(reading.is_unknown());
    CHECK(reading.knowledge() == Knowledge::unknown);
}

TEST_CASE("reading: known, idle and unknown exclude each other") {
    const auto known = Reading<double>::known(0.5);
    const auto idle = Reading<double>::idle();
    const auto unknown = Reading<double>::unknown();
    CHECK((known.is_known() && !known.is_idle() && !known.is_unknown()));
    CHECK((!idle.is_known() && idle.is_idle() && !idle.is_unknown()));
    CHECK((!unknown.is_known() && !unknown.is_idle() && unknown.is_unknown()));
}

TEST_CASE("reading: a known zero is known, not idle") {
    const auto zero = Reading<double>::known(0.0);
    CHECK(zero.is_known());
    CHECK(zero.value() == 0.0);
}

TEST_CASE("reading: a known value is kept as it was given") {
    CHECK(Reading<std::string>::known("seven").value() == "seven");
}

TEST_CASE("reading: each of the three comes back from an archive") {
    for (const auto& reading :
         {Reading<double>::known(-2.5), Reading<double>::idle(), Reading<double>::unknown()}) {
        const std::string bytes = saved(reading);
        auto back = Reading<double>::known(99.0);
        StateReader reader{bytes};
        reader(back);
        CHECK(reader.at_end());
        CHECK(back.knowledge() == reading.knowledge());
        if (reading.is_known()) CHECK(back.value() == reading.value());
    }
}

TEST_CASE("reading: the three do not look alike in an archive") {
    CHECK(saved(Reading<double>::idle()) != saved(Reading<double>::unknown()));
    CHECK(saved(Reading<double>::known(0.0)) != saved(Reading<double>::idle()));
}
