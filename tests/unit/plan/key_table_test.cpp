#include "plan/key_table.hpp"

#include <map>
#include <random>

#include <doctest/doctest.h>

using namespace dynaplan::plan;

namespace {

// Keys are numbers; their hash is poor on purpose, so that many share a home.
struct Twin {
    KeyTable table;
    std::vector<std::uint64_t> keys;  // by number
    std::map<std::uint64_t, std::uint32_t> plain;

    static std::size_t hash(std::uint64_t key) { return key % 37; }
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t key) const {
        return table.find(hash(key), [&](std::uint32_t n) { return keys[n] == key; });
    }
    void insert(std::uint64_t key) {
        const auto number = static_cast<std::uint32_t>(keys.size());
        keys.push_back(key);
        table.insert(hash(key), number);
        plain.emplace(key, number);
    }
    void erase(std::uint64_t key) {
        table.erase(hash(key), plain.at(key));
        plain.erase(key);
    }
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("key table: finds what a plain map finds, through growth and removals") {
        Twin twin;
        std::mt19937_64 toss{5};
        for (int i = 0; i < 20'000; ++i) {
            const std::uint64_t key = toss() % 300;
            if (twin.plain.contains(key)) {
                if (toss() % 2 == 0) twin.erase(key);
            } else {
                twin.insert(key);
            }
            CHECK(twin.table.size() == twin.plain.size());
            const std::uint64_t other = toss() % 300;
            const auto place = twin.plain.find(other);
            const auto found = twin.find(other);
            REQUIRE(found.has_value() == (place != twin.plain.end()));
            if (found) CHECK(*found == place->second);
        }
        for (const auto& [key, number] : twin.plain) CHECK(twin.find(key) == number);
    }

    TEST_CASE("key table: an empty one finds nothing, a cleared one neither") {
        Twin twin;
        CHECK_FALSE(twin.find(1).has_value());
        twin.insert(1);
        twin.table.clear();
        CHECK_FALSE(twin.find(1).has_value());
        CHECK(twin.table.size() == 0);
    }
}
