#include "plan/vote.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace dynaplan;
using namespace dynaplan::plan;

namespace {

// Decode engines whose passes take 10 ms + 1e-4 ms x KV, whatever the number of requests.
class Fleet {
public:
    explicit Fleet(std::vector<std::int64_t> kv, PlannerConfig c = config()) : config_{std::move(c)} {
        settings_.model.kind = model::ModelKind::decode;
        models_.emplace(settings_);
        for (std::uint32_t i = 0; i < kv.size(); ++i) {
            for (const std::int64_t x : {50'000, 100'000, 150'000, 200'000, 250'000, 300'000}) observe(i, x);
            observe(i, kv[i]);
            EngineObservation e;
            e.engine = static_cast<EngineIndex>(i);
            e.worker = static_cast<WorkerIndex>(i);
            e.pass = pass(kv[i]);
            engines_.push_back(e);
        }
        for (const EngineObservation& e : engines_) roster_.engines.push_back(&e);
        roster_.workers = static_cast<std::int64_t>(kv.size());
        who_.role = Role::decode;
        who_.ready = who_.base = Replicas{roster_.workers};
        who_.minimum = Replicas{1};
        who_.roster = &roster_;
        who_.input.models = &*models_;
        who_.input.capabilities = &capabilities_;
        who_.input.now = at_seconds(1.0);
    }
    Fleet(const Fleet&) = delete;
    Fleet& operator=(const Fleet&) = delete;

    static PlannerConfig config() {
        PlannerConfig c;
        c.mode = Mode::decode;
        c.itl = Millis{40.0};
        return c;
    }
    [[nodiscard]] Vote vote() const { return Voting{config_}.sla(decode_itl, who_); }
    Electorate& who() { return who_; }
    Capabilities& capabilities() { return capabilities_; }

private:
    static ForwardPass pass(std::int64_t kv) {
        ForwardPass p;
        p.scheduled.num_decode_requests = kv / 1000;
        p.scheduled.sum_decode_kv_tokens = kv;
        p.wall_time = 0.010 + 1e-7 * static_cast<double>(kv);
        return p;
    }
    void observe(std::uint32_t engine, std::int64_t kv) {
        models_->observe(static_cast<EngineIndex>(engine), pass(kv), at_seconds(1.0));
    }

    PlannerConfig config_;
    model::RoleModelSettings settings_;
    std::optional<model::RoleModel> models_;
    std::vector<EngineObservation> engines_;
    Roster roster_;
    Capabilities capabilities_;
    Electorate who_;
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("vote: all above the target grows, one below holds") {
        const Vote all = Fleet{{310'000, 320'000}}.vote();
        CHECK(all.reason == Reason::scale_up);
        CHECK(all.desired == Replicas{3});
        CHECK(all.engines == 2);
        CHECK(all.target == Millis{40.0});
        CHECK(all.threshold == Millis{32.0});
        const Vote one = Fleet{{310'000, 250'000}}.vote();
        CHECK(one.reason == Reason::no_change);
        CHECK_FALSE(one.desired.has_value());
    }

    TEST_CASE("vote: growth adds to what was already decided, not to what is ready") {
        Fleet fleet{{310'000, 320'000}};
        fleet.who().base = Replicas{5};
        CHECK(fleet.vote().desired == Replicas{6});
    }

    TEST_CASE("vote: shrinking needs survivors that stay below the threshold") {
        CHECK(Fleet{{40'000, 40'000}}.vote().reason == Reason::scale_down);  // one at 18 ms, settling at 23
        // One would be at 30 ms at first; but with passes twice as long as an empty one now, twice the token
        // rate is more than any batch reaches.
        CHECK(Fleet{{100'000, 100'000}}.vote().reason == Reason::scale_down_refused_consolidation);
        CHECK(Fleet{{120'000, 120'000}}.vote().reason ==
              Reason::scale_down_refused_consolidation);  // one at 34 ms
        PlannerConfig c = Fleet::config();
        c.policy.scale_down_check = ScaleDownCheck::threshold;
        CHECK(Fleet{{120'000, 120'000}, c}.vote().desired == Replicas{1});
    }

    TEST_CASE("vote: shrinking needs survivors that have the KV room") {
        Fleet fleet{{40'000, 40'000}};
        fleet.capabilities().max_kv_tokens = 80'000;
        CHECK(fleet.vote().reason == Reason::scale_down_refused_consolidation);
        fleet.capabilities().max_kv_tokens = 80'001;
        CHECK(fleet.vote().reason == Reason::scale_down);
    }

    TEST_CASE("vote: the survivors have no room, room, or ample room; without the check nobody asks") {
        Fleet fleet{{40'000, 40'000}};
        CHECK(fleet.vote().room == Room::ample);
        fleet.capabilities().max_kv_tokens = 100'000;  // 80,000 fit, a quarter more does not
        CHECK(fleet.vote().room == Room::enough);
        fleet.capabilities().max_kv_tokens = 80'000;
        CHECK(fleet.vote().room == Room::none);
        PlannerConfig c = Fleet::config();
        c.policy.scale_down_check = ScaleDownCheck::threshold;
        CHECK_FALSE(Fleet{{40'000, 40'000}, c}.vote().room.has_value());
    }

    TEST_CASE("vote: one replica never shrinks, and none below the minimum") {
        CHECK(Fleet{{50'000}}.vote().reason == Reason::no_change);
        Fleet fleet{{50'000, 50'000, 50'000}};
        fleet.who().minimum = Replicas{3};
        CHECK(fleet.vote().desired == Replicas{3});
    }

    TEST_CASE("vote: nothing is known without samples, without a ready replica, without engines") {
        CHECK(Fleet{{}}.vote().reason == Reason::insufficient_data);
        Fleet fleet{{310'000}};
        fleet.who().ready = Replicas{0};
        CHECK_FALSE(fleet.vote().known());
    }

    TEST_CASE("vote: what an empty engine misses too is no reason to grow, what load adds is") {
        PlannerConfig c = Fleet::config();
        c.itl = Millis{8.0};                                  // an empty engine takes 10
        const Vote hold = Fleet{{50'000, 50'000}, c}.vote();  // 15 ms: load adds less than a target
        CHECK(hold.reason == Reason::sla_unreachable);
        REQUIRE(hold.best_reachable.has_value());
        CHECK(hold.best_reachable->count() == doctest::Approx(10.1).epsilon(0.01));
        CHECK(Fleet{{150'000, 150'000}, c}.vote().reason == Reason::scale_up);
        c.policy.unreachable_sla = UnreachableSla::reference;
        CHECK(Fleet{{50'000, 50'000}, c}.vote().reason == Reason::scale_up);
    }

    TEST_CASE("vote: without a queue a step of the queue policy is one") {
        Fleet fleet{{310'000, 310'000}};
        fleet.capabilities().max_kv_tokens = 400'000;
        CHECK(fleet.vote().desired == Replicas{3});
    }
}
