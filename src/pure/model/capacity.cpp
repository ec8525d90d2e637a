#include "model/capacity.hpp"

#include <algorithm>
#include <cmath>

#include "model/estimate.hpp"

namespace dynaplan::model {

namespace {

// A count of requests from a quotient of tokens, saturating where a double passes what an integer holds.
std::int64_t truncated(double x) {
    constexpr double limit = 9.0e18;
    if (!(x > 0.0)) return 0;
    return x >= limit ? static_cast<std::int64_t>(limit) : static_cast<std::int64_t>(x);
}

}  // namespace

Capacity prefill_capacity(const Fit& fit, const PrefillLoad& load) {
    const double tokens = load.isl * (1.0 - load.kv_hit_rate);
    if (!fit.accepted() || !(tokens > 0.0)) return {};
    const auto chunk = load.max_num_batched_tokens.value_or(0);
    const double wall = chunk > 0 ? time_to_prefill(fit, tokens, chunk, 0.0) : fit(tokens);
    const double ttft_ms = 1000.0 * wall;
    return {1.0 / wall, ttft_ms, 0.0, ttft_ms <= load.ttft_target.count()};
}

Capacity decode_capacity(const Fit& fit, const DecodeLoad& load) {
    constexpr std::int64_t batch_unknown = 256;
    const double context = load.context_length;
    if (!fit.accepted() || !(context > 0.0) || !(load.osl > 0.0) || !(load.itl_target.count() > 0.0))
        return {};

    std::int64_t batch_max = batch_unknown;
    if (load.max_kv_tokens.value_or(0) > 0) {
        batch_max = std::max<std::int64_t>(1, truncated(static_cast<double>(*load.max_kv_tokens) / context));
    } else if (load.max_observed_kv > 0) {
        batch_max = std::max<std::int64_t>(1, truncated(static_cast<double>(load.max_observed_kv) / context));
    }
    if (load.max_num_seqs.value_or(0) != 0) batch_max = std::min(batch_max, *load.max_num_seqs);
    batch_max = std::max<std::int64_t>(1, batch_max);

    const auto wall = [&](std::int64_t batch) {
        const auto b = static_cast<double>(batch);
        return fit(b, b * context);
    };
    const auto capacity = [&](std::int64_t batch, bool met) {
        const double w = wall(batch);
        return Capacity{static_cast<double>(batch) / (load.osl * w), 0.0, 1000.0 * w, met};
    };
    const double target = load.itl_target.count();
    if (1000.0 * wall(1) > target) return capacity(1, false);
    std::int64_t good = 1;
    std::int64_t bad = batch_max + 1;
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (1000.0 * wall(middle) <= target ? good : bad) = middle;
    }
    return capacity(good, true);
}

namespace {

// What the search over batches needs, with everything that does not depend on the batch worked out once.
struct AggSearch {
    const Fit& fit;
    double computed_isl;  // x = I(1-h): prompt tokens that are computed
    double isl;
    double context;
    double osl;
    double osl_divisor;     // max(1, O): output tokens over which a request's prompt is spread
    double computed_share;  // 1 - hit rate
    double avg_isl;
    std::int64_t chunk;
    double ttft_target_ms;
    double itl_target_ms;
    std::int64_t batch_max;  // largest balanced batch

    struct Point {
        double wall;
        double ttft_ms;
        double itl_ms;
    };
    [[nodiscard]] Point at(std::int64_t batch) const {
        const auto b = static_cast<double>(batch);
        const auto mbt = static_cast<double>(chunk);
        const double kv = b * context;
        const double wall = fit(std::min(b * computed_isl / osl_divisor, mbt), kv);
        const double queued = std::trunc(std::min(b * isl / osl_divisor, mbt));
        const double ttft = time_to_prefill(fit, (queued + avg_isl) * computed_share, chunk, std::trunc(kv));
        return {wall, 1000.0 * ttft, 1000.0 * wall};
    }
    [[nodiscard]] bool meets(const Point& p) const {
        return p.ttft_ms <= ttft_target_ms && p.itl_ms <= itl_target_ms;
    }
    [[nodiscard]] Capacity capacity(std::int64_t batch, const Point& p, bool met) const {
        return {static_cast<double>(batch) / (osl * p.wall), p.ttft_ms, p.itl_ms, met};
    }
};

std::int64_t largest_balanced(std::int64_t chunk, double tokens, double osl, std::int64_t hard) {
    const auto balanced = [&](std::int64_t b) {
        return chunk - b > 0 && tokens / static_cast<double>(chunk - b) <= osl;
    };
    std::int64_t low = 1;
    std::int64_t high = std::max<std::int64_t>(1, hard);
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (balanced(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

std::optional<AggSearch> agg_search(const Fit& fit, const AggLoad& load) {
    constexpr std::int64_t batch_unknown = 1024;
    const std::int64_t chunk = load.max_num_batched_tokens.value_or(0);
    if (!fit.accepted() || chunk <= 0 || !(load.isl > 0.0) || !(load.osl > 0.0)) return std::nullopt;
    const double tokens = load.isl * (1.0 - load.kv_hit_rate);
    const double context = load.isl + load.osl / 2.0;
    std::int64_t hard = batch_unknown;
    if (load.max_kv_tokens.value_or(0) != 0) {
        hard = std::max<std::int64_t>(
            1, truncated(static_cast<double>(*load.max_kv_tokens) / std::max(1.0, context)));
    }
    if (load.max_num_seqs.value_or(0) != 0) hard = std::min(hard, *load.max_num_seqs);
    hard = std::min(hard, chunk - 1);
    return AggSearch{fit,
                     tokens,
                     load.isl,
                     context,
                     load.osl,
                     std::max(1.0, load.osl),
                     1.0 - load.kv_hit_rate,
                     load.avg_isl,
                     chunk,
                     load.ttft_target.count(),
                     load.itl_target.count(),
                     largest_balanced(chunk, tokens, load.osl, hard)};
}

}  // namespace

Capacity agg_capacity(const Fit& fit, const AggLoad& load) {
    const std::optional<AggSearch> search = agg_search(fit, load);
    if (!search) return {};
    const AggSearch::Point smallest = search->at(1);
    if (!search->meets(smallest)) return search->capacity(1, smallest, false);
    std::int64_t good = 1;
    std::int64_t bad = search->batch_max + 1;
    while (bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        (search->meets(search->at(middle)) ? good : bad) = middle;
    }
    return search->capacity(good, search->at(good), true);
}

Capacity agg_capacity_swept(const Fit& fit, const AggLoad& load) {
    const std::optional<AggSearch> search = agg_search(fit, load);
    if (!search) return {};
    AggSearch::Point best = search->at(1);
    if (!search->meets(best)) return search->capacity(1, best, false);
    std::int64_t batch = 1;
    while (batch < search->batch_max) {
        const AggSearch::Point next = search->at(batch + 1);
        if (!search->meets(next)) break;
        best = next;
        ++batch;
    }
    return search->capacity(batch, best, true);
}

}  // namespace dynaplan::model
