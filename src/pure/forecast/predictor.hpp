// What every load predictor does: values in, one forecast out. One instance follows one series (requests,
// ISL, OSL or KV hit rate); one value per throughput window.
//
// Common rules (specification, traffic and profiles 4.1): NaN counts as 0; zeros before the first non-zero
// value are skipped, later ones are kept; nothing stored yet forecasts 0. Under `forecast_bound: zero`
// negative values count as 0, infinite ones are not taken, and a forecast is finite and >= 0. Under `none`
// values pass as they are, infinite ones too, as the reference does it: the caller checks what it divides by.
//
// A forecast that cannot be given (log1p: expm1 overflows from about 709.8 on) is an Error and leaves the
// predictor usable: the next value may bring it back. Not thread-safe; an add allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/archive.hpp"
#include "core/config.hpp"
#include "core/policy.hpp"
#include "core/result.hpp"

namespace dynaplan::forecast {

class Predictor {
public:
    explicit Predictor(ForecastBound bound) : bound_{bound} {}
    virtual ~Predictor() = default;
    Predictor(const Predictor&) = delete;
    Predictor& operator=(const Predictor&) = delete;

    // Takes the next value of the series. Warm-up values enter the same way; call reset_idle_skip() after the
    // last one, so that the idle zeros right after a deployment are skipped again.
    void add(double value);
    void reset_idle_skip() { seen_nonzero_ = false; }

    // The value one window ahead, in the unit of the series. Asked twice without an add between, it answers
    // the same.
    [[nodiscard]] Result<double> predict();

    // The latest stored value on the original scale, 0 before the first.
    [[nodiscard]] double last_value() const { return last_; }
    // How many values have been stored (skipped ones do not count).
    [[nodiscard]] std::int64_t points() const { return points_; }

    // Whole state, for checkpoints. Load only into a predictor made from the same configuration.
    void archive(StateWriter& a) { archive_all(a); }
    void archive(StateReader& a) { archive_all(a); }

protected:
    [[nodiscard]] bool bounded() const { return bound_ == ForecastBound::zero; }

private:
    virtual void take(double value) = 0;           // a value that passed the common rules
    virtual Result<double> forecast() = 0;         // asked only when points() > 0
    virtual void archive_own(StateWriter& a) = 0;  // what the kind adds to the common state
    virtual void archive_own(StateReader& a) = 0;

    template <class Archive>
    void archive_all(Archive& a) {
        a(seen_nonzero_, points_, last_);
        archive_own(a);
    }

    ForecastBound bound_;
    bool seen_nonzero_ = false;
    std::int64_t points_ = 0;
    double last_ = 0.0;
};

// The predictor that `load_predictor` names, with its settings and policy.
std::unique_ptr<Predictor> make_predictor(const PlannerConfig& config);

}  // namespace dynaplan::forecast
