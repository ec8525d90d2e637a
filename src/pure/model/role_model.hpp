// The models of one role: one for the fleet and, under `regression_scope: engine`, one for each engine
// (DESIGN 5.3).
//
// An engine's own model answers for it from min_observations samples on; before that the fleet's does, to
// which the bootstrap samples belong. The fleet's learns from engines that have that many samples of their
// own, and from all while none has. `warmup_outlier` sets aside passes of a new engine that take far longer
// than the fleet's model expects.
//
// What a tick asks of each engine (its fit, its averages) is written into one short row per engine when a
// report comes: a tick reads rows in order and touches no sample.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine.hpp"
#include "core/fpm.hpp"
#include "core/policy.hpp"
#include "model/engine_model.hpp"

namespace dynaplan::model {

struct RoleModelSettings {
    ModelSettings model;
    RegressionScope scope = RegressionScope::engine;
    double warmup_outlier = 3.0;  // times the prediction; 0 = off
};

class RoleModel {
public:
    static constexpr std::int64_t warmup_passes = 30;  // of an engine, within which a pass may be an outlier

    explicit RoleModel(const RoleModelSettings&);

    // Benchmark samples, before anything else.
    void bootstrap(const ForwardPass&);
    // False: the pass was set aside as a warm-up outlier.
    bool observe(EngineIndex, const ForwardPass&, TimePoint now);
    // The engine is gone: its samples and averages go with it. The index may be used again.
    void forget(EngineIndex);

    [[nodiscard]] const EngineModel& fleet() const { return fleet_; }
    // The fit that answers for the engine.
    [[nodiscard]] const Fit& fit(EngineIndex engine) const {
        const Row* row = find(engine);
        return row != nullptr && row->own_fit ? row->fit : fleet_.fit();
    }
    // Averages of the engine: its own where it has any, else the fleet's.
    [[nodiscard]] const AgeingAverages& averages(EngineIndex engine, TimePoint now) const {
        const Row* row = find(engine);
        if (row == nullptr) {
            if (fleet_changed_ || !(now < fleet_averages_.end)) age_fleet(now);
            return fleet_averages_;
        }
        if (!(now < row->averages.end)) own_[number_of(engine)]->model.age(row->averages, now);
        return row->averages;
    }
    // Prompt tokens per second over the window (EngineModel).
    [[nodiscard]] double prefill_token_rate(EngineIndex engine, TimePoint now) const {
        const AgeingAverages& a = averages(engine, now);
        if (!a.first_pass_at) return 0.0;
        return EngineModel::token_rate(a.at(a.prefill_flow, now), *a.first_pass_at,
                                       settings_.model.averages_window, now);
    }
    // Samples of the engine's own.
    [[nodiscard]] std::int64_t num_observations(EngineIndex engine) const {
        return find(engine) == nullptr ? 0 : own_[number_of(engine)]->model.num_observations();
    }

    template <class Archive>
    void archive(Archive& a) {
        a(fleet_, seasoned_);
        std::uint64_t n = own_.size();
        a(n);
        if constexpr (Archive::reading) {
            if (!a.holds(n)) return;
            own_.clear();
            own_.resize(static_cast<std::size_t>(n));
            fleet_changed_ = true;
            rows_.assign(settings_.scope == RegressionScope::engine ? own_.size() : 0, Row{});
        }
        for (std::size_t i = 0; i < own_.size(); ++i) {
            auto& own = own_[i];
            bool present = own.has_value();
            a(present);
            if constexpr (Archive::reading) {
                if (!a.ok()) return;
                if (present) own.emplace(settings_.model);
            }
            if (present) a(*own);
            if constexpr (Archive::reading) {
                if (!a.ok()) return;
                if (present && !rows_.empty()) write_row(i);
            }
        }
    }

private:
    struct Own {
        explicit Own(const ModelSettings& s) : model{s} {}
        EngineModel model;
        std::int64_t passes = 0;
        TimePoint heard_at{};
        template <class Archive>
        void archive(Archive& a) {
            a(model, passes, heard_at);
        }
    };
    struct Row {
        bool present = false;
        bool own_fit = false;  // enough samples of its own
        Fit fit;
        mutable AgeingAverages averages;
    };
    Own& own_of(EngineIndex);
    void write_row(std::size_t engine);
    void age_fleet(TimePoint now) const;
    [[nodiscard]] const Row* find(EngineIndex engine) const {
        const std::size_t i = number_of(engine);
        return i < rows_.size() && rows_[i].present ? &rows_[i] : nullptr;
    }
    [[nodiscard]] bool is_outlier(const Own&, const ForwardPass&) const;

    RoleModelSettings settings_;
    EngineModel fleet_;
    std::vector<std::optional<Own>>
        own_;                // by engine index; under regression_scope: fleet for its passes alone
    std::vector<Row> rows_;  // of own_; none under regression_scope: fleet
    mutable AgeingAverages fleet_averages_;
    mutable bool fleet_changed_ = true;  // since they were written
    std::int64_t seasoned_ = 0;          // engines with min_observations samples of their own
};

}  // namespace dynaplan::model
