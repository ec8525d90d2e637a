// The running planner: events in, effects out, decisions to the store, outcomes back in, everything
// journalled (DESIGN 2, 5, 6).
//
// It owns the core and the coordinator and has no I/O of its own: what happens is handed in, time comes from
// the clock port, and whoever drives it calls wake() when next_wake() has come. After each call `on_change`
// says what may have changed for those who wait: a new wake-up time, a new decision.
//
// One thread, the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/result.hpp"
#include "decision/coordinator.hpp"
#include "plan/planner.hpp"
#include "port/bus_counts.hpp"
#include "port/clock.hpp"
#include "port/event_sink.hpp"
#include "port/journal.hpp"

namespace dynaplan::runtime {

// What the loop has seen and done since it started.
struct ServiceCounts {
    std::uint64_t proposals = 0;
    std::map<std::string, std::uint64_t, std::less<>> decisions;  // by the state that they reached
    std::map<std::string, std::uint64_t, std::less<>> refused;    // proposals, by the coordinator's reason
    std::uint64_t load_ticks = 0;
    std::uint64_t throughput_ticks = 0;
    std::uint64_t stalls = 0;  // the process did not run for longer than `stalled_after`
};

// The whole state at one time, as plain bytes.
struct Checkpoint {
    TimePoint at{};
    std::string planner;
    std::string coordinator;
};

// What is still missing before decisions can be expected (readyz).
enum class Missing : std::uint8_t { bus, engines, model, store, leader };
std::string_view to_string(Missing);

class Service final : public port::EventSink {
public:
    struct Parts {
        port::Clock& clock;
        decision::DecisionStore& store;
        const port::BusCounts& bus;  // whether reports can arrive
    };
    // Engines that have said nothing for so long are missing again (DESIGN 6).
    static constexpr Seconds engines_missing_after{60.0};
    // A wake-up that comes so much too late means that the process stood still (a frozen machine, SIGSTOP).
    // What engines said meanwhile is still on its way, so that it counts as an outage of the bus.
    static constexpr Seconds stalled_after{5.0};
    // A store that could not be read is asked again after this.
    static constexpr Seconds store_retry_after{1.0};

    Service(plan::Planner planner, const decision::CoordinatorConfig&, const Parts&);

    // Everything from now on is written there. The journal must outlive the service; without one nothing is
    // kept.
    void write_to(port::Journal& journal) { journal_ = &journal; }

    // Reads the store and begins to plan, or stands by until lead(true). A store that cannot be read is asked
    // again by wake().
    void start(bool leading);
    // The store's lock or lease was won or lost.
    void lead(bool leading);

    void take(Event&) override;
    void take(EventBody body) {
        Event event{TimePoint{}, std::move(body)};
        take(event);
    }
    // What is due at the clock's time.
    void wake();
    [[nodiscard]] std::optional<TimePoint> next_wake() const { return due_; }

    // A scheduler's answer. `done` is called exactly once: within the call, or when the store has answered.
    using Settled = std::function<void(const decision::Settlement&)>;
    void complete(DecisionId id, Settled done);
    void fail(DecisionId id, Settled done);

    // The answers of a store that answers later, and what its watch saw.
    void store_read(const decision::ReadAnswer&);
    void store_committed(const decision::CommitAnswer&);
    void store_seen(const decision::StoredState&);

    [[nodiscard]] const plan::Planner& planner() const { return planner_; }
    [[nodiscard]] const decision::Coordinator& coordinator() const { return coordinator_; }
    [[nodiscard]] const std::optional<DiagnosticsReport>& diagnostics() const { return diagnostics_; }
    [[nodiscard]] const ServiceCounts& counts() const { return counts_; }
    [[nodiscard]] bool leading() const { return leading_; }
    [[nodiscard]] std::vector<Missing> missing() const;
    [[nodiscard]] TimePoint now() const { return std::max(now_, clock_.now()); }
    [[nodiscard]] std::int64_t wall_ms() const { return clock_.wall_ms(); }
    // When the store is read again, while it has not been read yet.
    [[nodiscard]] std::optional<TimePoint> store_retry() const;
    // What keeps the core from acting now, and until when at the latest. What the store refused is offered
    // again by the next tick.
    [[nodiscard]] std::vector<Hold> holds() const;
    [[nodiscard]] Checkpoint checkpoint();
    // The configuration's problem that the core found in a config event; empty when it was taken.
    Result<void> reconfigure(std::vector<std::pair<std::string, FieldValue>> set);

    // Whether what is known of the store may be old, since its watch is broken: then every proposal reads it
    // first. Empty: never.
    std::function<bool()> store_is_stale;
    // Called at the end of each call above that fed the core.
    std::function<void()> on_change;

private:
    void feed(Event&);
    void feed(decision::Events);
    void follow(const Event&, Effects);
    void propose(const ScaleTo&);
    void note(const DiagnosticsReport&);
    void run_coordinator();
    void restore();
    void arrive();
    void settle(decision::Settlement, Settled);
    void settle_deferred();
    void changed();
    [[nodiscard]] std::optional<TimePoint> earliest_due() const;

    port::Clock& clock_;
    const port::BusCounts& bus_;
    port::NullJournal none_;
    port::Journal* journal_ = &none_;
    plan::Planner planner_;
    decision::Coordinator coordinator_;
    TimePoint now_{};
    bool leading_ = false;
    bool bus_works_ = false;  // no outage, as the core was told
    std::optional<DiagnosticsReport> diagnostics_;
    std::optional<std::string> config_refused_;
    ServiceCounts counts_;
    std::map<std::int64_t, Settled> deferred_;  // by ticket; the coordinator bounds how many there are
    TimePoint restore_at_{};
    std::optional<TimePoint> due_;  // the next wake-up, as of the last call
};

}  // namespace dynaplan::runtime
