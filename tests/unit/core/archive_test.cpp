#include "core/archive.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/engine.hpp"
#include "core/role.hpp"
#include "core/units.hpp"

using namespace dynaplan;

namespace {

template <class T>
std::string bytes_of(T value) {
    StateWriter writer;
    writer(value);
    return writer.take();
}

template <class T>
T round_trip(const T& value) {
    const std::string bytes = bytes_of(value);
    T back{};
    StateReader reader{bytes};
    reader(back);
    CHECK(reader.at_end());
    return back;
}

// A list of every kind of member that an archive takes, nested as a planner's state is.
struct Everything {
    bool flag = true;
    std::int8_t small = -5;
    std::uint64_t large = 0xFEDCBA9876543210;
    double number = 0.1;
    Mode mode = Mode::agg;
    __int128 wide = -(static_cast<__int128>(1) << 100) + 7;
    std::string text = std::string{"a\0b", 3};
    Seconds duration{1.25};
    TimePoint time = at_seconds(86'400.5);
    Replicas replicas{3};
    std::optional<EngineKey> engine = EngineKey{"7587", 2};
    std::optional<std::string> nothing;
    std::pair<std::int32_t, std::string> pair{9, "nine"};
    std::array<std::int16_t, 3> fixed{1, -2, 3};
    std::vector<std::vector<std::string>> lists{{"x", ""}, {}, {"yz"}};
    std::deque<std::optional<double>> window{1.5, std::nullopt, -2.5};
    std::variant<std::monostate, bool, std::int64_t, std::string> choice = std::string{"chosen"};
    PerRole<std::vector<EngineKey>> engines{{{"1", 0}}, {{"2", 0}, {"2", 1}}};

    bool operator==(const Everything&) const = default;
    template <class Archive>
    void archive(Archive& a) {
        a(flag, small, large, number, mode, wide, text, duration, time, replicas, engine, nothing, pair,
          fixed, lists, window, choice, engines);
    }
};

Everything emptied() {
    Everything e;
    e.flag = false;
    e.small = 0;
    e.large = 0;
    e.number = 0;
    e.mode = Mode::disagg;
    e.wide = 0;
    e.text.clear();
    e.duration = Seconds{0};
    e.time = TimePoint{};
    e.replicas = Replicas{0};
    e.engine.reset();
    e.nothing = "something";
    e.pair = {};
    e.fixed = {};
    e.lists.clear();
    e.window.clear();
    e.choice = std::monostate{};
    e.engines = {};
    return e;
}

}  // namespace

TEST_CASE("archive: numbers come back to the last bit") {
    CHECK(round_trip(true));
    CHECK_FALSE(round_trip(false));
    CHECK(round_trip(std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
    CHECK(round_trip(std::numeric_limits<std::uint64_t>::max()) == std::numeric_limits<std::uint64_t>::max());
    CHECK(round_trip(std::numeric_limits<double>::denorm_min()) == std::numeric_limits<double>::denorm_min());
    CHECK(round_trip(-std::numeric_limits<double>::infinity()) == -std::numeric_limits<double>::infinity());
    const double not_a_number = std::bit_cast<double>(0x7FF8000000001234ULL);
    CHECK(std::bit_cast<std::uint64_t>(round_trip(not_a_number)) == 0x7FF8000000001234ULL);
    CHECK(std::bit_cast<std::uint64_t>(round_trip(-0.0)) == std::bit_cast<std::uint64_t>(-0.0));
    const __int128 wide = (static_cast<__int128>(-1) << 126) + 12'345;
    CHECK(bool(round_trip(wide) == wide));
}

TEST_CASE("archive: every kind of member comes back, whatever stood there before") {
    const std::string bytes = bytes_of(Everything{});
    Everything back = emptied();
    StateReader reader{bytes};
    reader(back);
    CHECK(reader.at_end());
    CHECK(bool(back == Everything{}));
}

TEST_CASE("archive: each alternative of a variant comes back as itself") {
    using Choice = std::variant<std::monostate, bool, std::int64_t, std::string>;
    for (const Choice& choice :
         {Choice{}, Choice{true}, Choice{std::int64_t{-4}}, Choice{std::string{"s"}}}) {
        CHECK(bool(round_trip(choice) == choice));
    }
}

TEST_CASE("archive: a list that stood there before is replaced, not extended") {
    std::vector<std::int32_t> list{1, 2, 3, 4, 5};
    const std::string bytes = bytes_of(std::vector<std::int32_t>{7});
    StateReader reader{bytes};
    reader(list);
    CHECK(list == std::vector<std::int32_t>{7});
}

TEST_CASE("archive: the layout is little-endian without padding") {
    StateWriter writer;
    std::uint32_t number = 0x01020304;
    std::uint8_t one = 0xAA;
    std::string text = "hi";
    writer(number, one, text);
    CHECK(writer.take() == std::string{"\x04\x03\x02\x01\xAA\x02\0\0\0\0\0\0\0hi", 15});
}

TEST_CASE("archive: saving twice gives the same bytes") {
    CHECK(bytes_of(Everything{}) == bytes_of(Everything{}));
    CHECK(bytes_of(round_trip(Everything{})) == bytes_of(Everything{}));
}

TEST_CASE("archive: bytes cut anywhere fail") {
    const std::string bytes = bytes_of(Everything{});
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        Everything back;
        StateReader reader{std::string_view{bytes}.substr(0, length)};
        reader(back);
        CAPTURE(length);
        CHECK_FALSE(reader.ok());
        CHECK_FALSE(reader.at_end());
    }
}

TEST_CASE("archive: bytes that are left over are seen") {
    const std::string bytes = bytes_of(std::int32_t{4}) + "x";
    std::int32_t number = 0;
    StateReader reader{bytes};
    reader(number);
    CHECK(number == 4);
    CHECK(reader.ok());
    CHECK_FALSE(reader.at_end());
}

TEST_CASE("archive: after a failure everything reads as zero, also where bytes are left") {
    const std::string bytes = bytes_of(std::int32_t{4});
    std::int64_t too_wide = 7;
    std::int16_t would_fit = 7;
    std::string text = "old";
    std::optional<double> number = 1.0;
    StateReader reader{bytes};
    reader(too_wide, would_fit, text, number);
    CHECK_FALSE(reader.ok());
    CHECK(too_wide == 0);
    CHECK(would_fit == 0);
    CHECK(text.empty());
    CHECK_FALSE(number.has_value());
}

TEST_CASE("archive: fail() is for good") {
    const std::string bytes = bytes_of(std::int32_t{4});
    std::int32_t number = 7;
    StateReader reader{bytes};
    reader.fail();
    reader(number);
    CHECK(number == 0);
    CHECK_FALSE(reader.ok());
}

TEST_CASE("archive: a count that the rest cannot hold allocates nothing") {
    for (const std::uint64_t lie : {std::uint64_t{9}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
        CAPTURE(lie);
        const std::string bytes = bytes_of(lie) + "12345678";
        std::vector<double> list;
        StateReader list_reader{bytes};
        list_reader(list);
        CHECK_FALSE(list_reader.ok());
        CHECK(list.capacity() == 0);

        std::deque<std::string> queue;
        StateReader queue_reader{bytes};
        queue_reader(queue);
        CHECK_FALSE(queue_reader.ok());
        CHECK(queue.empty());

        std::string text;
        const std::size_t capacity_of_empty = text.capacity();
        StateReader text_reader{bytes};
        text_reader(text);
        CHECK_FALSE(text_reader.ok());
        CHECK(text.capacity() == capacity_of_empty);
    }
}

TEST_CASE("archive: a count that only seems to fit fails after no more elements than bytes") {
    const std::string bytes = bytes_of(std::uint64_t{8}) + "12345678";  // eight doubles announced, one there
    std::vector<double> list;
    StateReader reader{bytes};
    reader(list);
    CHECK_FALSE(reader.ok());
    CHECK(list.size() <= 8);
}

TEST_CASE("archive: a lie inside a nested list fails at once") {
    std::string bytes = bytes_of(std::uint64_t{2});       // two inner lists
    bytes += bytes_of(std::uint64_t{1}) + bytes_of(1.5);  // the first is sound
    bytes += bytes_of(~std::uint64_t{0});                 // the second claims 2^64 - 1 elements
    std::vector<std::vector<double>> lists;
    StateReader reader{bytes};
    reader(lists);
    CHECK_FALSE(reader.ok());
    REQUIRE(lists.size() == 2);
    CHECK(lists[1].capacity() == 0);
}

TEST_CASE("archive: an alternative that does not exist fails") {
    std::variant<std::int32_t, std::string> choice = std::string{"old"};
    const std::string bytes{"\x02\x01\0\0\0", 5};
    StateReader reader{bytes};
    reader(choice);
    CHECK_FALSE(reader.ok());
    CHECK(choice.index() == 0);
}

TEST_CASE("archive: a bool is false for zero and true for any other byte") {
    std::array<bool, 3> flags{};
    StateReader reader{std::string_view{"\0\x01\x02", 3}};
    reader(flags);
    CHECK(flags == std::array<bool, 3>{false, true, true});
}
