// The models of one role: one for the fleet and, under `regression_scope: engine`, one for each engine
// (DESIGN 5.3).
//
// An engine's own model answers for it from min_observations samples on; before that the fleet's does, to
// which the bootstrap samples belong. The fleet's learns from engines that have that many samples of their
// own, and from all while none has. `warmup_outlier` sets aside passes of a new engine that take far longer
// than the fleet's model expects.
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
    // The model that answers for the engine.
    [[nodiscard]] const EngineModel& answering(EngineIndex engine) const {
        const Own* own = find(engine);
        return own != nullptr && own->model.sufficient() ? own->model : fleet_;
    }
    // Averages of the engine: its own where it has any, else the fleet's.
    [[nodiscard]] const EngineModel& averages(EngineIndex engine) const {
        const Own* own = find(engine);
        return own != nullptr ? own->model : fleet_;
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
        }
        for (auto& own : own_) {
            bool present = own.has_value();
            a(present);
            if constexpr (Archive::reading) {
                if (!a.ok()) return;
                if (present) own.emplace(settings_.model);
            }
            if (present) a(*own);
        }
    }

private:
    struct Own {
        explicit Own(const ModelSettings& s) : model{s} {}
        EngineModel model;
        std::int64_t passes = 0;
        template <class Archive>
        void archive(Archive& a) {
            a(model, passes);
        }
    };
    Own& own_of(EngineIndex);
    [[nodiscard]] const Own* find(EngineIndex engine) const {
        const std::size_t i = number_of(engine);
        if (settings_.scope == RegressionScope::fleet || i >= own_.size() || !own_[i]) return nullptr;
        return &*own_[i];
    }
    [[nodiscard]] bool is_outlier(const Own&, const ForwardPass&) const;

    RoleModelSettings settings_;
    EngineModel fleet_;
    std::vector<std::optional<Own>> own_;  // by engine index; empty under regression_scope: fleet
    std::int64_t seasoned_ = 0;            // engines with min_observations samples of their own
};

}  // namespace dynaplan::model
