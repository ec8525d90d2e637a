#include "app/serve_parts.hpp"

#include "core/config_field.hpp"

namespace dynaplan::app {

decision::CoordinatorConfig coordinator_config(const AppConfig& c) {
    return {c.decisions.timeout_from == TimeoutFrom::publication ? decision::TimeoutFrom::publication
                                                                 : decision::TimeoutFrom::first_refusal,
            c.decisions.timeout};
}

std::vector<std::pair<std::string, FieldValue>> changed_fields(const PlannerConfig& from,
                                                               const PlannerConfig& to) {
    std::vector<std::pair<std::string, FieldValue>> changed;
    const std::vector<NamedValue> before = values_of(from);
    const std::vector<NamedValue> after = values_of(to);
    for (std::size_t i = 0; i < after.size() && i < before.size(); ++i) {
        if (!(after[i] == before[i])) changed.push_back(after[i]);
    }
    return changed;
}

}  // namespace dynaplan::app
