// Gives each proposal of the core a decision id and follows the decision to its end (DESIGN 6; specification,
// connectors 1.3 and 1.4, rules V-2 to V-8). A pure state machine over a DecisionStore: times are handed in,
// what happened comes back as the events that the core is to be fed, in order, stamped with the time of the
// call.
//
// Promises: ids never repeat, across restarts and take-overs (V-3). A decision is one transaction (V-4).
// Memory changes only after the store said yes (V-5); a lost answer is followed by a read before the next
// attempt. At most one decision is open. Acknowledged, failed, timed out and superseded are final, unless the
// store itself takes an acknowledgement back (etcd's scaled_decision_id).
//
// One thread. With a store that answers later, calls queue behind the one under way and their results come
// from read_answered / commit_answered.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/effect.hpp"
#include "core/event.hpp"
#include "core/units.hpp"
#include "decision/record.hpp"
#include "decision/store.hpp"

namespace dynaplan::decision {

// From when the time-out of an unacknowledged decision counts.
enum class TimeoutFrom : std::uint8_t {
    publication,    // it is timed_out that long after its publication, whatever is proposed meanwhile
    first_refusal,  // the reference: the first proposal that long after the first refused one is forced
};

struct CoordinatorConfig {
    TimeoutFrom timeout_from = TimeoutFrom::publication;
    Seconds timeout{1800.0};
};

using Events = std::vector<Event>;

// The answer to complete() or fail(). HTTP: done 200, never_published 409, unavailable 503.
struct Settlement {
    enum class Status : std::uint8_t {
        done,             // it is over, now or before; `record` tells how it stands
        never_published,  // no decision has had this id
        unavailable,      // standing by, not yet read, or the store failed: ask again
        deferred,         // the store answers later: a Settlement of the same ticket will follow
    };
    Status status{};
    std::int64_t ticket = 0;
    std::optional<DecisionRecord> record;  // as it now is; absent when it is too old to be kept
    Events events;                         // for the core; empty for a deferred one that came later
};

class Coordinator {
public:
    static constexpr std::size_t records_kept = 128;  // DESIGN 6 asks for the last 100 at least
    static constexpr std::size_t work_max = 256;  // calls waiting for a slow store; later ones are refused

    // The store must outlive the coordinator.
    explicit Coordinator(DecisionStore& store, CoordinatorConfig config = {});

    // Reads the store and takes over: at a start, and when leadership is won. Answers DecisionRestored for
    // the newest decision, if there is one, with its age in [0, timeout] by the wall clock, and its time-out
    // if that has passed. Until it succeeded proposals are refused (store) and settlements are unavailable;
    // see restored() and call again.
    Events restore(TimePoint now, std::int64_t wall_ms);
    [[nodiscard]] bool restored() const { return restored_; }
    // The store owes an answer.
    [[nodiscard]] bool busy() const { return under_way_ != UnderWay::nothing; }
    // Leadership is lost: the records stay readable, nothing is written until the next restore().
    void stand_by();

    // Answers DecisionPublished or DecisionRefused for the proposal (later, with a store that answers later);
    // before it, what the attempt brought to light: the end of the decision before, or a DecisionRestored for
    // one that another coordinator, or a lost answer, left in the store. A proposal that `cancels` does not
    // wait for the open decision. `why_json` is kept with the decision.
    Events propose(const ScaleTo& proposal, TimePoint now, std::int64_t wall_ms, std::string why_json = {});

    // The scheduler's answer. Only an open decision changes; anything older is accepted and left as it is.
    Settlement complete(DecisionId id, TimePoint now);
    Settlement fail(DecisionId id, TimePoint now);

    // Runs a time-out that is due at or before now, and writes what an earlier failure left unwritten.
    Events tick(TimePoint now);
    // When tick() has to be called at the latest: the time-out of the open decision. Empty with
    // first_refusal, where only a proposal can end the wait.
    [[nodiscard]] std::optional<TimePoint> next_deadline() const;

    // What a watch on the store saw, already parsed; never older than the store's last answer.
    Events observe(const StoredState& seen, TimePoint now, std::int64_t wall_ms);
    // The same for a process that stands by: readers see what the leader has written. Nothing follows from
    // it.
    void follow(const StoredState& seen);

    // What is known may be old, as when the watch on the store is broken: the next attempt reads the store
    // first, and where that fails it is refused (store) and no wait begins (V-12).
    void doubt() { stale_ = true; }

    // Answers of a store that did not answer at once. Settlements that were deferred are fetched with
    // take_settled() afterwards.
    Events read_answered(const ReadAnswer& answer, TimePoint now);
    Events commit_answered(const CommitAnswer& answer, TimePoint now);
    std::vector<Settlement> take_settled();

    // The store as last read, written or seen by the watch: the wanted counts also where a foreign write
    // changed them under the newest decision (V-8).
    [[nodiscard]] const StoredState& known() const { return known_; }
    // The last decisions, oldest first.
    [[nodiscard]] const std::vector<DecisionRecord>& records() const { return known_.records; }
    [[nodiscard]] const DecisionRecord* find(DecisionId id) const;
    // The oldest kept decision with a larger id: -1 asks for the first.
    [[nodiscard]] const DecisionRecord* first_after(DecisionId id) const;
    // The newest decision, and the same if it is still open.
    [[nodiscard]] const DecisionRecord* current() const;
    [[nodiscard]] const DecisionRecord* open() const;
    [[nodiscard]] DecisionId next_id() const;
    [[nodiscard]] const CoordinatorConfig& config() const { return config_; }

    // State for a checkpoint. A call that waits for its store is not kept: after a load the store is read
    // again before anything is written.
    template <class Archive>
    void archive(Archive& a) {
        bool stale = stale_ || under_way_ != UnderWay::nothing;
        a(known_, highest_, unwritten_, published_at_, refused_since_, restored_, stale, tickets_);
        if constexpr (Archive::reading) {
            stale_ = stale;
            under_way_ = UnderWay::nothing;
            work_.clear();
            settled_.clear();
        }
    }

private:
    enum class Task : std::uint8_t { restore, refresh, publish, settle, tick };
    enum class UnderWay : std::uint8_t { nothing, read, commit };
    struct Work {
        Task task{};
        TimePoint now{};
        std::int64_t wall_ms = 0;
        // publish
        ProposalId proposal{};
        std::optional<Replicas> prefill;
        std::optional<Replicas> decode;
        Reason reason{};
        bool cancels = false;
        std::string why_json;
        // settle
        DecisionId id{};
        DecisionState to{};
        std::int64_t ticket = 0;

        bool conflicted = false;  // has had its second chance
        Transaction transaction;  // what is being committed
    };

    // coordinator.cpp: calls, and the traffic with the store.
    Settlement settle(DecisionId id, DecisionState to, TimePoint now);
    bool enqueue(Work work);
    void pump();
    void run(Work& work);
    void start_read();
    void start_commit(Work& work);
    void on_read(const ReadAnswer& answer);
    void on_commit(const CommitAnswer& answer);
    void give_up(Refusal reason);
    void finish_publish(Refusal reason);
    void finish_settle(Settlement::Status status);
    void emit(EventBody body);
    Events take_events();

    // coordinator_rules.cpp: what is decided.
    void consider_publish(Work& work);
    void consider_settle(Work& work);
    void consider_tick(Work& work);
    void committed(const Work& work);
    void adopt(const StoredState& state, std::int64_t wall_ms, bool announce);
    void complete_records(StoredState& state) const;
    void expire(TimePoint now);
    void put_unwritten(Transaction& transaction) const;
    [[nodiscard]] bool differs(const Work& work) const;
    [[nodiscard]] Seconds age_of(const DecisionRecord& record, std::int64_t wall_ms) const;
    void emit_outcome(DecisionId id, DecisionState state);
    DecisionRecord* record_of(DecisionId id);

    DecisionStore& store_;
    CoordinatorConfig config_;
    StoredState known_;                       // the store, as last read or written
    DecisionId highest_ = -1;                 // ever published, adopted or acknowledged
    std::vector<DecisionId> unwritten_;       // time-outs that the store has not been told yet
    TimePoint published_at_{};                // of the newest decision
    std::optional<TimePoint> refused_since_;  // first_refusal: the first proposal that was not let through
    bool restored_ = false;
    bool stale_ = false;  // what is known may be old: read before the next attempt
    std::int64_t tickets_ = 0;

    std::deque<Work> work_;  // the front one is under way
    UnderWay under_way_ = UnderWay::nothing;
    TimePoint now_{};
    Events out_;
    std::vector<Settlement> settled_;
};

}  // namespace dynaplan::decision
