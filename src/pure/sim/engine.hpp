// One simulated engine: a queue, a batch, a KV cache. Continuous batching with chunked prefill, as vLLM's
// scheduler does it: requests of the batch first, in order, decodes one token each and prompts the next
// chunk; then new ones from the queue while tokens, sequences and KV last. When the KV cache is full, the
// request admitted last gives up its KV and goes back to the head of the queue, to compute it again. Time is
// told from outside: the fleet begins a pass, and ends it when its duration has gone by.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/capabilities.hpp"
#include "core/fpm.hpp"
#include "core/units.hpp"
#include "sim/pass_time.hpp"
#include "sim/random.hpp"

namespace dynaplan::sim {

struct EngineConfig {
    PassTime pass_time;
    std::int64_t max_num_batched_tokens = 8192;
    std::int64_t max_num_seqs = 256;
    std::int64_t context_length = 32'768;  // tokens
    std::int64_t max_kv_tokens = 400'000;  // tokens
    std::int64_t num_gpu = 1;              // per replica, all ranks together
    std::int64_t dp_ranks = 1;             // engines of one replica
    double noise = 0.02;                   // deviation of the logarithm of a pass time
    std::int64_t warmup_passes = 0;        // the first passes of an engine,
    double warmup_factor = 1.0;            // and how much longer they take
    [[nodiscard]] Capabilities capabilities() const;
};
std::vector<std::string> problems(const EngineConfig&);

struct Request {
    std::int64_t id = 0;
    TimePoint arrived{};
    TimePoint first_token{};
    TimePoint last_token{};
    std::int64_t isl = 0;        // tokens
    std::int64_t osl = 0;        // tokens
    std::int64_t cached = 0;     // prompt tokens that every engine's prefix cache holds; below isl
    std::int64_t generated = 0;  // answer tokens that the client has
    std::int64_t computed = 0;   // tokens whose KV its engine holds
    bool prefilling = true;      // prompt, or context lost to a preemption, not computed to its end
    bool preempted = false;      // has lost its KV at least once
    // Everything that must be in the KV cache before the next token comes out.
    [[nodiscard]] std::int64_t context() const { return isl + generated; }
};

// What an engine does with a prompt that is done: hand it over (prefill role), or go on decoding it.
enum class Duty : std::uint8_t { hand_over, decode };

class Engine {
public:
    Engine(const EngineConfig& config, Duty duty, const Random& noise);

    // A new, handed-over (not prefilling, KV comes along) or retried request. isl + osl must fit the KV
    // cache.
    void take(Request r);
    [[nodiscard]] bool has_work() const { return !running_.empty() || !waiting_.empty(); }
    [[nodiscard]] bool in_pass() const { return in_pass_; }
    [[nodiscard]] std::int64_t num_waiting() const { return static_cast<std::int64_t>(waiting_.size()); }
    [[nodiscard]] std::int64_t num_running() const { return static_cast<std::int64_t>(running_.size()); }
    [[nodiscard]] std::int64_t kv_tokens() const { return kv_tokens_; }
    // Tokens of work ahead of a new request: for routing.
    [[nodiscard]] std::int64_t backlog() const;

    // Forms the batch of a pass and tells how long it takes; needs work and no pass under way.
    Seconds begin_pass(double slowness);
    // The pass is over at `now`: its report, prompts that are handed over, requests whose last token came
    // out.
    ForwardPass end_pass(TimePoint now, std::vector<Request>& handed_over, std::vector<Request>& finished);
    // A report without a pass: all zero when idle; with its queue when it has work that it does not do.
    ForwardPass heartbeat();
    // Everything that it holds, in order of admission; their KV is lost.
    std::vector<Request> take_all();
    // Calls f with each request that it holds.
    template <class F>
    void for_each(F f) const {
        for (const Request& r : running_) f(r);
        for (const Request& r : waiting_) f(r);
    }

private:
    // Exact sums for a mean and a population variance over requests.
    struct Spread {
        std::int64_t n = 0;
        std::int64_t sum = 0;
        __int128 squares = 0;
        void add(std::int64_t x);
        void remove(std::int64_t x);
        [[nodiscard]] double variance() const;
    };
    static bool waits_as_prompt(const Request& r) { return r.prefilling && !r.preempted; }
    void count_waiting(const Request& r);
    void uncount_waiting(const Request& r);
    void preempt_last();
    void continue_running(std::int64_t& budget);
    void admit_waiting(std::int64_t& budget);
    void write_scheduled();
    void write_queued(QueuedRequests& block) const;

    EngineConfig config_;
    Duty duty_;
    Random noise_;
    std::deque<Request> waiting_;
    std::vector<Request> running_;     // in order of admission
    std::vector<std::int64_t> chunk_;  // tokens of this pass, beside running_
    std::int64_t kv_tokens_ = 0;       // held by running requests, those of this pass included
    Spread waiting_prompts_;
    Spread waiting_contexts_;
    std::int64_t counter_ = 0;
    std::int64_t passes_ = 0;
    bool in_pass_ = false;
    bool preempted_now_ = false;
    ForwardPass report_;
};

}  // namespace dynaplan::sim
