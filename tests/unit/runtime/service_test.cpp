#include "runtime/service.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "runtime/fixtures.hpp"
#include "wire/json_effect.hpp"

using namespace dynaplan;
using namespace dynaplan::runtime;

namespace {

std::vector<std::string> names(const std::vector<Missing>& missing) {
    std::vector<std::string> out;
    for (const Missing m : missing) out.emplace_back(to_string(m));
    return out;
}

// Counts how often it is read.
class CountedStore final : public decision::DecisionStore {
public:
    std::optional<decision::ReadAnswer> read() override {
        ++reads;
        return store.read();
    }
    std::optional<decision::CommitAnswer> commit(const decision::Transaction& t) override {
        return store.commit(t);
    }
    decision::MemoryStore store;
    int reads = 0;
};

decision::Settlement::Status complete(Service& service, DecisionId id) {
    auto status = decision::Settlement::Status::deferred;
    service.complete(id, [&status](const decision::Settlement& settled) { status = settled.status; });
    return status;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("service: a breach becomes a decision, its acknowledgement comes back as an event") {
        Rig rig;
        rig.service.start(true);
        REQUIRE(rig.service.coordinator().restored());
        rig.service.take(BusChanged{true});
        rig.service.take(InventoryRead{Role::decode, Replicas{1}, Replicas{1}, false});
        rig.run(20.0, {"1"}, 500'000);
        const decision::DecisionRecord* open = rig.service.coordinator().open();
        REQUIRE(open != nullptr);
        CHECK(open->decode > Replicas{1});
        CHECK(open->reason == Reason::scale_up);
        CHECK(complete(rig.service, open->decision_id) == decision::Settlement::Status::done);
        CHECK(rig.service.coordinator().open() == nullptr);
        CHECK(rig.service.counts().decisions.at("acknowledged") == 1);
        const auto told =
            std::count_if(rig.journal.events.begin(), rig.journal.events.end(), [](const Event& e) {
                const auto* outcome = std::get_if<DecisionOutcome>(&e.body);
                return outcome != nullptr && outcome->outcome == OutcomeKind::acknowledged;
            });
        CHECK(told == 1);
    }

    TEST_CASE(
        "service: what the journal has, played to a planner from its checkpoint, gives the same effects") {
        Rig rig;
        rig.service.start(true);
        REQUIRE(rig.service.coordinator().restored());
        rig.service.take(BusChanged{true});
        rig.service.take(InventoryRead{Role::decode, Replicas{1}, Replicas{1}, false});
        rig.run(60.0, {"1", "2"}, 450'000);
        auto planner = plan::Planner::load(rig.first.planner);
        REQUIRE(planner.has_value());
        std::string again;
        for (const Event& event : rig.journal.events) {
            for (const Effect& effect : planner->step(event)) wire::append_effect_json(again, effect);
        }
        std::string recorded;
        for (const Effect& effect : rig.journal.effects) wire::append_effect_json(recorded, effect);
        CHECK(recorded.find("scale_to") != std::string::npos);
        CHECK(again == recorded);
    }

    TEST_CASE("service: readiness names what is missing, and engines that fall silent are missing again") {
        Rig rig;
        CHECK(names(rig.service.missing()) == std::vector<std::string>{"bus", "engines", "model", "leader"});
        rig.service.start(true);
        CHECK(names(rig.service.missing()) == std::vector<std::string>{"bus", "engines", "model"});
        rig.bus.connected = true;
        rig.service.take(BusChanged{true});
        rig.pass("1", 0, 1000);
        CHECK(names(rig.service.missing()) == std::vector<std::string>{"model"});
        rig.run(3.0, {"1"}, 10'000);
        CHECK(rig.service.missing().empty());
        rig.clock.at += Service::engines_missing_after;
        CHECK(names(rig.service.missing()) == std::vector<std::string>{"engines"});
    }

    // Silence of the engines and a sleep of our own look alike: the ticks that were missed run at the
    // wake-up, at their own times, and by then nobody has been heard.
    TEST_CASE("service: its own sleep is no loss of engines, whatever wakes it") {
        for (const char* first : {"timer", "report", "client"}) {
            CAPTURE(first);
            Rig rig;
            rig.service.start(true);
            rig.service.take(BusChanged{true});
            rig.run(20.0, {"1", "2", "3"}, 250'000);
            REQUIRE(rig.service.counts().proposals == 0);
            rig.clock.at += Seconds{60.0};
            if (first == std::string{"timer"}) rig.service.wake();
            if (first == std::string{"report"}) rig.pass("1", 1000, 250'000);
            if (first == std::string{"client"}) rig.service.complete(0, [](const decision::Settlement&) {});
            CHECK(rig.service.counts().stalls == 1);
            const std::vector<Hold> holds = rig.service.holds();
            REQUIRE(holds.size() == 1);
            CHECK(holds[0].reason == Reason::engines_missing);
            CHECK(holds[0].deadline == rig.clock.at + rig.service.planner().config().policy.engine_silent);
            rig.counter = 1000;
            rig.run(100.0, {"1", "2", "3"}, 250'000);
            CHECK(rig.service.counts().proposals == 0);
            CHECK(rig.service.holds().empty());
        }
    }

    TEST_CASE("service: a stand-by writes nothing and says so; taking over, it hears of the open decision") {
        Rig first;
        first.service.start(true);
        first.service.take(BusChanged{true});
        first.service.take(InventoryRead{Role::decode, Replicas{1}, Replicas{1}, false});
        first.run(20.0, {"1"}, 500'000);
        REQUIRE(first.service.coordinator().open() != nullptr);
        const DecisionId open = first.service.coordinator().open()->decision_id;

        HandClock clock;
        clock.at = first.clock.at;
        MemoryJournal journal;
        const port::BusCounts bus;
        Service second{plan::Planner{decode_config()}, {}, {clock, first.store, bus}};
        second.write_to(journal);
        second.start(false);
        CHECK(names(second.missing()).back() == "leader");
        CHECK(complete(second, open) == decision::Settlement::Status::unavailable);
        second.lead(true);
        REQUIRE(second.coordinator().open() != nullptr);
        CHECK(second.coordinator().open()->decision_id == open);
        const auto restored = std::count_if(journal.events.begin(), journal.events.end(), [](const Event& e) {
            return std::holds_alternative<DecisionRestored>(e.body);
        });
        CHECK(restored == 1);
        CHECK(complete(second, open) == decision::Settlement::Status::done);
    }

    TEST_CASE("service: a proposal reads a store first whose watch is broken (V-12)") {
        for (const bool stale : {false, true}) {
            CAPTURE(stale);
            Rig rig;
            CountedStore store;
            Service service{plan::Planner{decode_config()}, {}, {rig.clock, store, rig.bus}};
            service.store_is_stale = [stale] { return stale; };
            service.start(true);
            service.take(BusChanged{true});
            service.take(InventoryRead{Role::decode, Replicas{0}, Replicas{0}, false});
            rig.clock.at += Seconds{20.0};
            service.wake();
            REQUIRE(service.counts().decisions.at("published") == 1);
            CHECK(store.reads == (stale ? 2 : 1));  // the first is the restore
        }
    }

    TEST_CASE("service: a change of the configuration is taken whole or refused with its reason") {
        Rig rig;
        rig.service.start(true);
        CHECK(rig.service.reconfigure({{"itl", 55.0}}).has_value());
        CHECK(rig.service.planner().config().itl == Millis{55.0});
        const Result<void> refused = rig.service.reconfigure({{"itl", 60.0}, {"mode", std::string{"agg"}}});
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().message.find("mode") != std::string::npos);
        CHECK(rig.service.planner().config().itl == Millis{55.0});
    }
}
