// What is known of the passes of one engine, or of a whole role: a regression and the moving averages beside
// it.
//
// A report with wall_time 0 is no sample; it only enters the averages (core semantics 4.2, 4.3). The model
// does not know which engine it belongs to, nor what is queued now: that is handed in where an estimate is
// asked for.
#pragma once

#include <cstdint>
#include <optional>

#include "core/fpm.hpp"
#include "model/average.hpp"
#include "model/regression.hpp"

namespace dynaplan::model {

// What the averages of an engine say from the time of its last report on, without being asked again: within
// the slice of the window in which it came, and within the next one (model/average.hpp).
struct AgeingAverages {
    TimePoint turn{};  // end of the slice of the report
    TimePoint end{};   // of the next one: from here on the model itself has to be asked
    Ageing num_decode, decode_len, prefill_tokens;
    Ageing prefill_flow;  // prompt tokens in the window
    std::optional<TimePoint> first_pass_at;
    [[nodiscard]] double at(const Ageing& value, TimePoint now) const {
        return now < turn ? value.now : value.next;
    }
};

class EngineModel {
public:
    explicit EngineModel(const ModelSettings&);

    // Averages, and a sample if the pass has a wall time and is not to be set aside.
    void observe(const ForwardPass&, TimePoint now, bool set_aside = false);
    // What the accepted fit expects of such a pass, seconds.
    [[nodiscard]] double predict(const ForwardPass&) const;

    [[nodiscard]] ModelKind kind() const { return kind_; }
    [[nodiscard]] std::int64_t num_observations() const { return regression_.size(); }
    [[nodiscard]] bool sufficient() const { return regression_.sufficient(); }
    [[nodiscard]] const Fit& fit() const { return regression_.fit(); }
    void refit(Fit& fit) const { regression_.refit(fit); }
    [[nodiscard]] const Regression& regression() const { return regression_; }

    // prefill, agg: tokens of one request's share of a pass (a chunk, not a prompt), and requests per pass
    [[nodiscard]] double avg_isl(TimePoint now) const { return isl_.value(now); }
    [[nodiscard]] double avg_num_prefill(TimePoint now) const { return num_prefill_.value(now); }
    // decode, agg: KV tokens per request, and requests per pass
    [[nodiscard]] double avg_decode_len(TimePoint now) const { return decode_len_.value(now); }
    [[nodiscard]] double avg_num_decode(TimePoint now) const { return num_decode_.value(now); }
    // agg: prompt tokens per pass
    [[nodiscard]] double avg_prefill_tokens(TimePoint now) const { return prefill_tokens_.value(now); }
    // prefill, agg, `averages: timed` only: prompt tokens computed per second over the window, 0 when not
    // kept
    [[nodiscard]] double prefill_token_rate(TimePoint now) const {
        return first_pass_at_ ? token_rate(prefill_flow_.sum(now), *first_pass_at_, window_, now) : 0.0;
    }
    // The same from `tokens` of the window, for an engine whose first pass was at `first`.
    [[nodiscard]] static double token_rate(double tokens, TimePoint first, Seconds window, TimePoint now);
    // Brings what they say up to date; `now` never decreases.
    void age(AgeingAverages&, TimePoint now) const;
    // decode: largest sum of KV tokens seen
    [[nodiscard]] std::int64_t max_observed_kv() const { return max_observed_kv_; }

    template <class Archive>
    void archive(Archive& a) {
        a(regression_, isl_, num_prefill_, decode_len_, num_decode_, prefill_tokens_, prefill_flow_,
          first_pass_at_, max_observed_kv_);
    }

private:
    ModelKind kind_;
    bool timed_;
    Seconds window_;
    Regression regression_;
    Average isl_, num_prefill_, decode_len_, num_decode_, prefill_tokens_;
    TimedAverage prefill_flow_;
    std::optional<TimePoint> first_pass_at_;
    std::int64_t max_observed_kv_ = 0;
};

}  // namespace dynaplan::model
