// The life of a worker by its model cards (event-plane specification 7.7).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "wire/worker_cards.hpp"

namespace dynaplan::wire {
namespace {

using Kind = WorkerChange::Kind;
using Listing = std::vector<std::pair<std::string, WorkerCard>>;

constexpr std::uint64_t big = (1ULL << 63U) + 1;

WorkerCard card(std::uint64_t worker, const std::string& model, bool is_base = true) {
    WorkerCard out{worker, is_base, {}};
    out.card.model_name = model;
    return out;
}

std::string model_of(const WorkerCards& cards, std::uint64_t worker) {
    const ModelCard* found = cards.card_of(worker);
    return found == nullptr ? "unknown" : found->model_name.value_or("");
}

TEST_CASE("worker cards: a worker appears with its first card and goes with its last one") {
    WorkerCards cards;
    CHECK(cards.put("k/1", card(big, "base")) == WorkerChanges{{Kind::added, big}});
    CHECK(cards.put("k/1/lora", card(big, "lora", false)) == WorkerChanges{});
    CHECK(cards.workers() == std::vector<std::uint64_t>{big});
    CHECK(cards.card_count() == 2);

    SUBCASE("an adapter that is unloaded does not end it") {
        CHECK(cards.remove("k/1/lora") == WorkerChanges{});
        CHECK(model_of(cards, big) == "base");
        CHECK(cards.remove("k/1") == WorkerChanges{{Kind::removed, big}});
    }
    SUBCASE("the base card may go first") {
        CHECK(cards.remove("k/1") == WorkerChanges{{Kind::changed, big}});
        CHECK(model_of(cards, big) == "lora");
        CHECK(cards.remove("k/1/lora") == WorkerChanges{{Kind::removed, big}});
    }
    CHECK(cards.workers().empty());
    CHECK(cards.card_count() == 0);
    CHECK(model_of(cards, big) == "unknown");
}

TEST_CASE("worker cards: additions and removals may be repeated") {
    WorkerCards cards;
    cards.put("k/1", card(1, "m"));
    CHECK(cards.put("k/1", card(1, "m")) == WorkerChanges{});
    CHECK(cards.put("k/1", card(1, "m")) == WorkerChanges{});
    CHECK(cards.card_count() == 1);
    CHECK(cards.remove("k/1") == WorkerChanges{{Kind::removed, 1}});
    CHECK(cards.remove("k/1") == WorkerChanges{});
    CHECK(cards.remove("never seen") == WorkerChanges{});
    CHECK(cards.put("k/1", card(1, "m")) == WorkerChanges{{Kind::added, 1}});
}

TEST_CASE("worker cards: only a change of the reported card is a change") {
    WorkerCards cards;
    cards.put("k/1", card(1, "base"));
    cards.put("k/1/a", card(1, "adapter", false));
    CHECK(cards.put("k/1", card(1, "other")) == WorkerChanges{{Kind::changed, 1}});
    CHECK(cards.put("k/1/a", card(1, "another adapter", false)) == WorkerChanges{});
    CHECK(model_of(cards, 1) == "other");
}

TEST_CASE("worker cards: the base card is reported, then the lowest key, whatever came first") {
    WorkerCards cards;
    cards.put("k/1/b", card(1, "b", false));
    CHECK(cards.put("k/1/a", card(1, "a", false)) == WorkerChanges{{Kind::changed, 1}});
    CHECK(model_of(cards, 1) == "a");
    CHECK(cards.put("z", card(1, "base")) == WorkerChanges{{Kind::changed, 1}});
    CHECK(model_of(cards, 1) == "base");
    CHECK(cards.put("y", card(1, "lower base")) == WorkerChanges{{Kind::changed, 1}});
    CHECK(model_of(cards, 1) == "lower base");
}

TEST_CASE("worker cards: workers of neighbouring ids above 2^53 are two") {
    constexpr std::uint64_t even = 1ULL << 53U;
    WorkerCards cards;
    cards.put("a", card(even, "x"));
    CHECK(cards.put("b", card(even + 1, "x")) == WorkerChanges{{Kind::added, even + 1}});
    CHECK(cards.workers() == std::vector<std::uint64_t>{even, even + 1});
}

TEST_CASE("worker cards: a key that names another worker leaves the old one first") {
    WorkerCards cards;
    cards.put("k", card(1, "m"));
    CHECK(cards.put("k", card(2, "m")) == WorkerChanges{{Kind::removed, 1}, {Kind::added, 2}});
    CHECK(cards.card_count() == 1);
    cards.put("l", card(1, "m"));
    CHECK(cards.put("l", card(2, "n")) == WorkerChanges{{Kind::removed, 1}});
    CHECK(cards.workers() == std::vector<std::uint64_t>{2});
}

TEST_CASE("worker cards: a whole listing removes what is not in it, and adds what is new") {
    WorkerCards cards;
    cards.put("k/1", card(1, "m"));
    cards.put("k/2", card(2, "m"));
    cards.put("k/3", card(3, "m"));
    const Listing listing{{"k/2", card(2, "m")}, {"k/3", card(3, "other")}, {"k/4", card(4, "m")}};
    CHECK(cards.replace_all(listing) ==
          WorkerChanges{{Kind::removed, 1}, {Kind::changed, 3}, {Kind::added, 4}});
    CHECK(cards.workers() == std::vector<std::uint64_t>{2, 3, 4});
    CHECK(cards.card_count() == 3);
    CHECK(cards.replace_all(listing) == WorkerChanges{});
    CHECK(cards.remove("k/1") == WorkerChanges{});
    CHECK(cards.replace_all({}) == WorkerChanges{{Kind::removed, 2}, {Kind::removed, 3}, {Kind::removed, 4}});
    CHECK(cards.card_count() == 0);
}

TEST_CASE("worker cards: a worker whose cards are replaced in one listing stays") {
    WorkerCards cards;
    cards.put("old", card(1, "m"));
    CHECK(cards.replace_all({{"new", card(1, "m")}}) == WorkerChanges{});
    CHECK(cards.remove("old") == WorkerChanges{});
    CHECK(cards.remove("new") == WorkerChanges{{Kind::removed, 1}});
}

TEST_CASE("worker cards: of a key that a listing repeats the last entry counts") {
    WorkerCards cards;
    CHECK(cards.replace_all({{"k", card(1, "m")}, {"k", card(2, "m")}}) == WorkerChanges{{Kind::added, 2}});
    CHECK(cards.workers() == std::vector<std::uint64_t>{2});
}

TEST_CASE("worker cards: keys with zero bytes are keys like others") {
    WorkerCards cards;
    cards.put(std::string_view{"k\0a", 3}, card(1, "a"));
    cards.put(std::string_view{"k\0b", 3}, card(1, "b"));
    CHECK(cards.card_count() == 2);
    CHECK(cards.remove("k") == WorkerChanges{});
    CHECK(cards.remove(std::string_view{"k\0a", 3}) == WorkerChanges{{Kind::changed, 1}});
}

}  // namespace
}  // namespace dynaplan::wire
