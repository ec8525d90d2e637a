// A toy fleet in virtual time: it speaks the core's events and takes its decisions. Open loop, it makes
// recordings; closed loop, a planner scales it. One seed and one sequence of calls give one run, to the last
// bit.
//
//   Fleet fleet{config, seed};
//   while (auto t = fleet.next_time()) { fleet.run_until(*t, events); ... fleet.apply(scale_to, *t, id); }
//
// Events come out in time order: joins and inventory at the start, then reports, heartbeats, inventory,
// answers to traffic questions, acknowledgements. What it does not model: stragglers inside a batch, network
// limits, prefix caches that fill (the hit rate is a constant of the traffic).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "sim/agenda.hpp"
#include "sim/arrivals.hpp"
#include "sim/config.hpp"
#include "sim/engine.hpp"
#include "sim/random.hpp"
#include "sim/scores.hpp"
#include "sim/traffic_log.hpp"

namespace dynaplan::sim {

class Fleet {
public:
    // `config` must be free of problems().
    Fleet(FleetConfig config, std::uint64_t seed);

    // When the fleet next does something; none when it never will again.
    [[nodiscard]] std::optional<TimePoint> next_time() const;
    // Lets everything up to and including t happen and appends the events of it, in order.
    void run_until(TimePoint t, std::vector<Event>& out);
    // Carries a decision out: starts replicas, drains the newest ones. Roles without an opinion keep their
    // target. The acknowledgement, if the configuration wants one, comes as an event, unless another decision
    // came first.
    void apply(const ScaleTo& decision, TimePoint now, DecisionId id);
    // Answers with TrafficObserved over (now - window, now] after the configured delay.
    void ask_traffic(Seconds window, TimePoint now);

    [[nodiscard]] const FleetConfig& config() const { return config_; }
    [[nodiscard]] const Scorebook& book() const { return book_; }
    // Of requests that arrived from `from` until before `to`.
    [[nodiscard]] Scores scores(TimePoint from, TimePoint to = end_of_time) const;
    [[nodiscard]] Replicas serving(Role role) const { return Replicas{serving_[role]}; }
    [[nodiscard]] Replicas target(Role role) const { return Replicas{target_[role]}; }
    [[nodiscard]] std::int64_t requests_inside() const { return inside_; }
    [[nodiscard]] std::int64_t reports_sent() const {
        return sent_;
    }  // lost ones included, doubled ones once
    [[nodiscard]] std::int64_t reports_lost() const { return lost_; }

private:
    enum class State : std::uint8_t { starting, serving, draining, gone };
    struct Replica {
        Role role{};
        std::int64_t number = 0;  // within the role, in order of creation
        std::string worker_id;
        State state = State::starting;
        TimePoint since{};
        std::vector<std::uint32_t> engines;
    };
    struct Slot {
        Engine engine;
        std::uint32_t replica = 0;
        std::int64_t dp_rank = 0;
        std::uint32_t epoch = 0;  // counts passes begun: a heartbeat of an older idleness is void
        bool alive = true;
    };
    struct Question {
        Seconds window{0.0};
        TimePoint asked{};
    };

    void happen(const AgendaItem& item);
    void emit(EventBody body) { outbox_.push_back({now_, std::move(body)}); }

    // Requests (fleet_requests.cpp).
    void schedule_arrival();
    void on_arrival();
    void route(Request r, Role role);
    void kick(std::uint32_t engine);
    void on_pass_end(std::uint32_t engine);
    void on_heartbeat(std::uint32_t engine, std::uint32_t epoch);
    void rest(std::uint32_t engine);
    void finish(const Request& r);
    void report(const Slot& slot, const ForwardPass& pass);
    [[nodiscard]] Role entry_role() const;

    // Replicas (fleet_replicas.cpp).
    std::uint32_t add_replica(Role role);
    void start_replica(Role role);
    void serve(std::uint32_t replica);
    void drain(std::uint32_t replica);
    void end_if_empty(std::uint32_t replica);
    void end(std::uint32_t replica);
    void crash(std::uint32_t replica);
    void set_target(Role role, std::int64_t target);
    void fill(Role role);
    void leave_discovery(const Replica& r, Seconds delay);
    void counts_changed(Role role);
    void read_inventory(Role role);
    void acknowledge_if_ready();
    void on_fault(const Fault& fault);
    [[nodiscard]] bool faulty(const Replica& r, Fault::Kind kind) const;
    [[nodiscard]] double slowness(const Replica& r) const;
    [[nodiscard]] Gpus gpus_of(Role role) const { return Gpus{config_.role[role].engine.num_gpu}; }

    FleetConfig config_;
    TimePoint now_;
    Agenda agenda_;
    std::vector<Event> outbox_;
    Random engine_seeds_;
    Random channel_;
    Random startup_;
    Arrivals arrivals_;
    std::optional<Arrival> next_arrival_;

    std::vector<Replica> replicas_;                 // every one that ever was
    std::vector<Slot> slots_;                       // likewise
    PerRole<std::vector<std::uint32_t>> routable_;  // engines of serving replicas
    PerRole<std::deque<Request>> parked_;           // no engine serves the role
    PerRole<std::int64_t> target_;
    PerRole<std::int64_t> serving_;
    PerRole<std::int64_t> created_;
    PerRole<std::size_t> turn_;  // round robin

    Places<Request> in_transfer_;
    Places<Event> held_back_;
    Places<Question> questions_;
    Places<DecisionId> acknowledgements_;
    std::optional<DecisionId> open_;

    std::vector<Request> handed_over_;  // reused between passes
    std::vector<Request> finished_;
    std::int64_t next_request_ = 0;
    std::int64_t inside_ = 0;  // arrived and not finished
    std::int64_t sent_ = 0;
    std::int64_t lost_ = 0;
    TrafficLog log_;
    Scorebook book_;
};

}  // namespace dynaplan::sim
