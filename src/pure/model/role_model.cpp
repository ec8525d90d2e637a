#include "model/role_model.hpp"

namespace dynaplan::model {

RoleModel::RoleModel(const RoleModelSettings& settings) : settings_{settings}, fleet_{settings.model} {}

void RoleModel::bootstrap(const ForwardPass& pass) { fleet_.observe(pass, TimePoint{}); }

bool RoleModel::observe(EngineIndex engine, const ForwardPass& pass, TimePoint now) {
    if (settings_.scope == RegressionScope::fleet) {
        if (settings_.warmup_outlier > 0.0) {
            Own& own = own_of(engine);
            const bool outlier = is_outlier(own, pass);
            if (pass.wall_time > 0.0) ++own.passes;
            fleet_.observe(pass, now, outlier);
            return !outlier;
        }
        fleet_.observe(pass, now);
        return true;
    }
    Own& own = own_of(engine);
    const bool outlier = is_outlier(own, pass);
    if (pass.wall_time > 0.0) ++own.passes;
    const bool was_seasoned = own.model.sufficient();
    own.model.observe(pass, now, outlier);
    if (!was_seasoned && own.model.sufficient()) ++seasoned_;
    if (seasoned_ == 0 || own.model.sufficient()) fleet_.observe(pass, now, outlier);
    return !outlier;
}

bool RoleModel::is_outlier(const Own& own, const ForwardPass& pass) const {
    if (settings_.warmup_outlier <= 0.0 || pass.wall_time <= 0.0 || own.passes >= warmup_passes) return false;
    if (!fleet_.fit().accepted()) return false;
    return pass.wall_time > settings_.warmup_outlier * fleet_.predict(pass);
}

void RoleModel::forget(EngineIndex engine) {
    const std::size_t i = number_of(engine);
    if (i >= own_.size() || !own_[i]) return;
    if (own_[i]->model.sufficient()) --seasoned_;
    own_[i].reset();
}

RoleModel::Own& RoleModel::own_of(EngineIndex engine) {
    const std::size_t i = number_of(engine);
    if (i >= own_.size()) own_.resize(i + 1);
    if (!own_[i]) own_[i].emplace(settings_.model);
    return *own_[i];
}

}  // namespace dynaplan::model
