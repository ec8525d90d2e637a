#include "model/role_model.hpp"

namespace dynaplan::model {

RoleModel::RoleModel(const RoleModelSettings& settings) : settings_{settings}, fleet_{settings.model} {}

void RoleModel::bootstrap(const ForwardPass& pass) {
    fleet_changed_ = true;
    fleet_.observe(pass, TimePoint{});
}

bool RoleModel::observe(EngineIndex engine, const ForwardPass& pass, TimePoint now) {
    fleet_changed_ = true;
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
    own.heard_at = now;
    write_row(number_of(engine));
    return !outlier;
}

void RoleModel::age_fleet(TimePoint now) const {
    fleet_.age(fleet_averages_, now);
    fleet_changed_ = false;
}

void RoleModel::write_row(std::size_t engine) {
    if (engine >= rows_.size()) rows_.resize(own_.size());
    const Own& own = *own_[engine];
    Row& row = rows_[engine];
    row.present = true;
    row.own_fit = own.model.sufficient();
    if (row.own_fit) own.model.refit(row.fit);
    own.model.age(row.averages, own.heard_at);
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
    if (i < rows_.size()) rows_[i] = Row{};
}

RoleModel::Own& RoleModel::own_of(EngineIndex engine) {
    const std::size_t i = number_of(engine);
    if (i >= own_.size()) own_.resize(i + 1);
    if (!own_[i]) own_[i].emplace(settings_.model);
    return *own_[i];
}

}  // namespace dynaplan::model
