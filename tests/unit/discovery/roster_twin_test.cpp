// Random histories of keys, against a twin that works out from scratch, after every step, who must be there.
#include <map>
#include <random>
#include <set>

#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

namespace {

struct Card {
    std::uint64_t id = 0;
    bool base = true;
    std::string_view role;
    int first = 0;
    int count = 1;
};
using Cards = std::map<std::string, Card>;  // by key
using Engines = std::set<std::string>;      // "decode 7.0"

Engines expected(const Cards& cards) {
    std::map<std::uint64_t, Card> reported;  // the base card, else the one with the lowest key
    for (const auto& [key, card] : cards) {
        const auto [place, fresh] = reported.emplace(card.id, card);
        if (!fresh && card.base && !place->second.base) place->second = card;
    }
    Engines engines;
    for (const auto& [id, card] : reported) {
        for (int rank = card.first; rank < card.first + card.count; ++rank) {
            engines.insert(std::string{card.role} + ' ' + std::to_string(id) + '.' + std::to_string(rank));
        }
    }
    return engines;
}

// Who is there by what the core was told. Nobody leaves who had not joined.
void follow(const Lines& told, Engines& engines) {
    for (const std::string& line : told) {
        if (line[0] == '+') {
            engines.insert(line.substr(1));
        } else {
            CHECK_MESSAGE(engines.erase(line.substr(1)) == 1, line);
        }
    }
}

class Fleet {
public:
    explicit Fleet(unsigned seed) : random_{seed} {}

    // A key out of few, so that histories meet each other: neighbours' and broken ones too.
    std::string key() {
        const std::string_view component = pick({"backend", "backend", "prefill", "backend2"});
        const std::string_view suffix = pick({"", "", "a", "b"});
        if (below(20) == 0) return card_key(component, 1) + "/a/b";
        return card_key(component, 1 + below(5), suffix);
    }
    // A value for the key, and what the twin makes of it: a value that cannot be read changes nothing.
    std::string value(const std::string& key, Cards& twin) {
        if (below(10) == 0) return "torn";
        const auto parsed = wire::parse_discovery_key(key);
        Card card;
        card.first = static_cast<int>(below(3));
        card.count = 1 + static_cast<int>(below(3));
        const bool prefill = below(4) == 0;
        if (parsed && *parsed->scope.component != "backend2") {
            card.id = parsed->id;
            card.base = !parsed->suffix;
            card.role = prefill || *parsed->scope.component == "prefill" ? "prefill" : "decode";
            twin.insert_or_assign(key, card);
        }
        return card_value(card.id,
                          R"("data_parallel_start_rank":)" + std::to_string(card.first) +
                              R"(,"data_parallel_size":)" + std::to_string(card.count),
                          prefill ? R"("model_type":"Prefill")" : "");
    }
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

private:
    std::string_view pick(const std::vector<std::string_view>& words) { return words[below(words.size())]; }
    std::mt19937_64 random_;
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("roster: after any history those are there who must be, and no others") {
        for (unsigned seed = 1; seed <= 40; ++seed) {
            CAPTURE(seed);
            Fleet fleet{seed};
            RosterRig rig;
            Cards twin;
            Engines engines;
            for (int step = 0; step < 250; ++step) {
                CAPTURE(step);
                if (fleet.below(12) == 0) {  // the whole listing of one component, or of all
                    const std::string prefix =
                        fleet.below(2) == 0 ? "v1/mdc/dynamo/" : "v1/mdc/dynamo/backend/";
                    std::map<std::string, std::string> listing;
                    for (std::uint64_t i = fleet.below(12); i > 0; --i) {
                        const std::string key = fleet.key();
                        if (!wire::is_under(key, prefix) || listing.contains(key)) continue;
                        listing.emplace(key, fleet.value(key, twin));
                    }
                    std::vector<KeyValue> pairs;
                    for (const auto& [key, value] : listing) pairs.push_back({key, value});
                    rig.roster.replace_all(prefix, pairs);
                    std::erase_if(twin, [&](const auto& entry) {
                        return wire::is_under(entry.first, prefix) && !listing.contains(entry.first);
                    });
                } else if (fleet.below(3) == 0) {
                    const std::string key = fleet.key();
                    rig.roster.remove(key);
                    twin.erase(key);
                } else {
                    const std::string key = fleet.key();
                    const std::string value = fleet.value(key, twin);
                    rig.roster.put(key, value);
                }
                follow(rig.events.taken(), engines);
                const Engines wanted = expected(twin);
                REQUIRE(engines == wanted);
                const RosterState state = rig.roster.state();
                REQUIRE(state.engines.prefill + state.engines.decode ==
                        static_cast<std::int64_t>(wanted.size()));
                for (std::uint64_t id = 1; id <= 5; ++id) {
                    const auto role = rig.roster.role_of(std::to_string(id));
                    const auto place = std::find_if(wanted.begin(), wanted.end(), [&](const std::string& e) {
                        return e.find(' ' + std::to_string(id) + '.') != std::string::npos;
                    });
                    REQUIRE(role.has_value() == (place != wanted.end()));
                    if (role) REQUIRE(place->starts_with(to_string(*role)));
                }
            }
        }
    }
}
