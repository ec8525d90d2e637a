#include "sim/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/assert.hpp"

namespace dynaplan::sim {

Capabilities EngineConfig::capabilities() const {
    return {Gpus{num_gpu}, max_num_batched_tokens, max_num_seqs, context_length, max_kv_tokens};
}

std::vector<std::string> problems(const EngineConfig& e) {
    std::vector<std::string> found = problems(e.pass_time);
    for (const std::int64_t n : {e.max_num_batched_tokens, e.max_num_seqs, e.num_gpu, e.dp_ranks}) {
        if (n < 1) {
            found.emplace_back(
                "engine: max_num_batched_tokens, max_num_seqs, num_gpu and dp_ranks must be at least 1");
        }
    }
    if (e.context_length < 2 || e.max_kv_tokens < 2) {
        found.emplace_back("engine: context_length and max_kv_tokens must be at least 2 tokens");
    }
    if (!(e.noise >= 0.0 && e.noise <= 2.0)) found.emplace_back("engine: noise lies between 0 and 2");
    if (e.warmup_passes < 0 || !(e.warmup_factor > 0.0 && e.warmup_factor <= 1e6)) {
        found.emplace_back(
            "engine: warmup_passes must not be negative, warmup_factor lies between 0 and 1e6");
    }
    return found;
}

void Engine::Spread::add(std::int64_t x) {
    ++n;
    sum += x;
    squares += static_cast<__int128>(x) * x;
}
void Engine::Spread::remove(std::int64_t x) {
    --n;
    sum -= x;
    squares -= static_cast<__int128>(x) * x;
}
// (n x sum of squares - square of the sum) / n^2: exact until the division.
double Engine::Spread::variance() const {
    if (n == 0) return 0.0;
    const __int128 above = squares * n - static_cast<__int128>(sum) * sum;
    return static_cast<double>(above) / (static_cast<double>(n) * static_cast<double>(n));
}

Engine::Engine(const EngineConfig& config, Duty duty, const Random& noise)
    : config_{config}, duty_{duty}, noise_{noise} {}

void Engine::count_waiting(const Request& r) {
    if (waits_as_prompt(r)) {
        waiting_prompts_.add(r.isl);
    } else {
        waiting_contexts_.add(r.context());
    }
}
void Engine::uncount_waiting(const Request& r) {
    if (waits_as_prompt(r)) {
        waiting_prompts_.remove(r.isl);
    } else {
        waiting_contexts_.remove(r.context());
    }
}

void Engine::take(Request r) {
    DYNAPLAN_ASSERT(r.isl + r.osl <= config_.max_kv_tokens && r.cached < r.isl);
    count_waiting(r);
    waiting_.push_back(std::move(r));
}

std::int64_t Engine::backlog() const {
    std::int64_t tokens = waiting_prompts_.sum + waiting_contexts_.sum;
    if (duty_ == Duty::decode) return tokens + kv_tokens_;
    for (const Request& r : running_) tokens += r.context() - r.computed;
    return tokens;
}

void Engine::preempt_last() {
    Request r = std::move(running_.back());
    running_.pop_back();
    kv_tokens_ -= r.computed;
    r.computed = 0;
    r.prefilling = true;
    r.preempted = true;
    preempted_now_ = true;
    count_waiting(r);
    waiting_.push_front(std::move(r));
}

void Engine::continue_running(std::int64_t& budget) {
    for (std::size_t i = 0; i < running_.size(); ++i) {
        const std::int64_t rest = running_[i].context() - running_[i].computed;
        const std::int64_t tokens = std::min(rest, budget);
        while (kv_tokens_ + tokens > config_.max_kv_tokens && running_.size() > i + 1) preempt_last();
        if (kv_tokens_ + tokens > config_.max_kv_tokens) {
            // It is the last of the batch itself. A request alone in the batch always fits (take).
            DYNAPLAN_ASSERT(i > 0);
            preempt_last();
            return;
        }
        kv_tokens_ += tokens;
        budget -= tokens;
        chunk_.push_back(tokens);
    }
}

void Engine::admit_waiting(std::int64_t& budget) {
    while (budget > 0 && !waiting_.empty() && num_running() < config_.max_num_seqs) {
        Request& head = waiting_.front();
        const std::int64_t held = head.prefilling ? head.cached : head.computed;
        const std::int64_t tokens = std::min(head.context() - held, budget);
        if (kv_tokens_ + held + tokens > config_.max_kv_tokens) return;
        uncount_waiting(head);
        head.computed = held;
        kv_tokens_ += held + tokens;
        budget -= tokens;
        running_.push_back(std::move(head));
        waiting_.pop_front();
        chunk_.push_back(tokens);
    }
}

void Engine::write_scheduled() {
    Spread prompts;
    Spread contexts;
    ScheduledRequests& s = report_.scheduled;
    s = {};
    for (std::size_t i = 0; i < running_.size(); ++i) {
        const Request& r = running_[i];
        if (chunk_[i] == 0) continue;  // the token budget was gone before its turn
        if (r.prefilling) {
            prompts.add(r.context());
            s.sum_prefill_tokens += chunk_[i];
            s.sum_prefill_kv_tokens += r.computed;
        } else {
            contexts.add(r.computed);
        }
    }
    s.num_prefill_requests = prompts.n;
    s.var_prefill_length = prompts.variance();
    s.num_decode_requests = contexts.n;
    s.sum_decode_kv_tokens = contexts.sum;
    s.var_decode_kv_tokens = contexts.variance();
}

void Engine::write_queued(QueuedRequests& block) const {
    block.num_prefill_requests = waiting_prompts_.n;
    block.sum_prefill_tokens = waiting_prompts_.sum;
    block.var_prefill_length = waiting_prompts_.variance();
    block.num_decode_requests = waiting_contexts_.n;
    block.sum_decode_kv_tokens = waiting_contexts_.sum;
    block.var_decode_kv_tokens = waiting_contexts_.variance();
}

Seconds Engine::begin_pass(double slowness) {
    DYNAPLAN_ASSERT(has_work() && !in_pass_);
    in_pass_ = true;
    chunk_.clear();
    preempted_now_ = false;
    std::int64_t budget = config_.max_num_batched_tokens;
    continue_running(budget);
    // What was just taken away is not given back in the same pass.
    if (!preempted_now_) admit_waiting(budget);
    DYNAPLAN_ASSERT(!running_.empty() && chunk_.size() == running_.size());

    write_scheduled();
    write_queued(report_.queued);
    const ScheduledRequests& s = report_.scheduled;
    Seconds time =
        config_.pass_time.of({s.sum_prefill_tokens, s.num_decode_requests, s.sum_decode_kv_tokens}) *
        slowness;
    if (config_.noise > 0.0) time *= noise_.lognormal(config_.noise);
    if (passes_ < config_.warmup_passes) time *= config_.warmup_factor;
    ++passes_;
    report_.wall_time = time.count();
    return time;
}

ForwardPass Engine::end_pass(TimePoint now, std::vector<Request>& handed_over,
                             std::vector<Request>& finished) {
    DYNAPLAN_ASSERT(in_pass_);
    in_pass_ = false;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < running_.size(); ++i) {
        Request& r = running_[i];
        r.computed += chunk_[i];
        if (chunk_[i] > 0 && r.computed == r.context()) {
            r.prefilling = false;
            if (r.generated == 0) r.first_token = now;
            ++r.generated;
            r.last_token = now;
            const bool done = r.generated >= r.osl;
            if (done || duty_ == Duty::hand_over) {
                kv_tokens_ -= r.computed;
                (done ? finished : handed_over).push_back(std::move(r));
                continue;
            }
        }
        if (kept != i) running_[kept] = std::move(r);
        ++kept;
    }
    running_.resize(kept);
    ForwardPass report = report_;
    report.counter_id = counter_++;
    return report;
}

ForwardPass Engine::heartbeat() {
    ForwardPass report;
    report.counter_id = counter_++;
    write_queued(report.queued);
    return report;
}

std::vector<Request> Engine::take_all() {
    std::vector<Request> all{std::make_move_iterator(running_.begin()),
                             std::make_move_iterator(running_.end())};
    all.insert(all.end(), std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
    for (Request& r : all) {
        r.computed = 0;
        r.prefilling = true;
        r.preempted = false;
    }
    running_.clear();
    waiting_.clear();
    chunk_.clear();
    kv_tokens_ = 0;
    waiting_prompts_ = {};
    waiting_contexts_ = {};
    in_pass_ = false;
    return all;
}

}  // namespace dynaplan::sim
