// Setting many fields at once, all or nothing, and the rules that tie fields together.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/config_field.hpp"

namespace dynaplan {
namespace {

struct Written {
    const Field* field = nullptr;
    std::string name;  // as it was written
    const FieldValue* value = nullptr;
    std::size_t rank = 0;  // which of a field's names it is: 0 its own, then its aliases
};

std::size_t name_rank(const Field& f, std::string_view name) {
    const auto alias = std::ranges::find(f.aliases, name);
    return alias == f.aliases.end() ? 0 : static_cast<std::size_t>(alias - f.aliases.begin()) + 1;
}

// Each field once: of two names for it the August one (the alias) wins.
std::vector<Written> resolve(std::span<const NamedValue> given, std::vector<Problem>& problems) {
    std::map<const Field*, Written> chosen;
    std::vector<const Field*> order;
    for (const auto& [name, value] : given) {
        const Field* field = find_field(name);
        if (field == nullptr) {
            std::string message = "no such field";
            if (const auto near = nearest_field(name); !near.empty())
                message += "; did you mean " + near + "?";
            problems.push_back({name, message});
            continue;
        }
        const Written written{field, name, &value, name_rank(*field, name)};
        const auto [at, is_new] = chosen.emplace(field, written);
        if (is_new) {
            order.push_back(field);
        } else if (at->second.name == name) {
            problems.push_back({name, "is given twice"});
        } else if (written.rank > at->second.rank) {
            at->second = written;
        }
    }
    std::vector<Written> result;
    for (const Field* field : order) result.push_back(chosen[field]);
    return result;
}

void apply_preset(PlannerConfig& c, const std::vector<Written>& written) {
    for (const Written& w : written) {
        if (w.field->path() != "preset") continue;
        const auto value = coerce(*w.field, *w.value);
        if (!value) return;
        const Preset preset = std::get<std::string>(*value) == "dynamo" ? Preset::dynamo : Preset::dynaplan;
        if (preset == c.preset) return;
        const PlannerConfig defaults = config_of(preset);
        c.preset = preset;
        c.policy = defaults.policy;
        c.optimization_target = defaults.optimization_target;
        c.enable_load_scaling = defaults.enable_load_scaling;
        c.enable_throughput_scaling = defaults.enable_throughput_scaling;
        c.load_predictor = defaults.load_predictor;
    }
}

std::vector<std::string> as_lines(const std::vector<Problem>& problems) {
    std::vector<std::string> lines;
    lines.reserve(problems.size());
    for (const Problem& p : problems) lines.push_back(p.field + ": " + p.message);
    return lines;
}

}  // namespace

std::vector<Problem> set_fields_with_places(PlannerConfig& config, std::span<const NamedValue> given,
                                            bool while_running) {
    std::vector<Problem> problems;
    PlannerConfig changed = config;
    const auto written = resolve(given, problems);
    if (!while_running) apply_preset(changed, written);
    for (const Written& w : written) {
        const auto value = coerce(*w.field, *w.value);
        if (!value) {
            problems.push_back({w.name, value.error().message});
        } else if (while_running && !w.field->while_running) {
            if (w.field->get(config) != *value) {
                problems.push_back({w.name, "may not change while running: restart with the new value"});
            }
        } else {
            w.field->set(changed, *value);
        }
    }
    force_easy_target(changed);
    // With a field left unset the rules would speak of values that nobody wrote.
    for (Problem& p : find_problems(changed)) {
        const bool known = std::ranges::any_of(problems, [&p](const Problem& q) {
            return find_field(q.field) != nullptr && find_field(q.field) == find_field(p.field);
        });
        if (!known) problems.push_back(std::move(p));
    }
    if (problems.empty()) config = changed;
    return problems;
}

std::vector<std::string> set_fields(PlannerConfig& config, std::span<const NamedValue> given,
                                    bool while_running) {
    return as_lines(set_fields_with_places(config, given, while_running));
}

std::vector<std::string> problems_of(const PlannerConfig& c) { return as_lines(find_problems(c)); }

void force_easy_target(PlannerConfig& c) {
    if (!c.easy()) return;
    c.enable_load_scaling = true;
    c.enable_throughput_scaling = false;
}

std::vector<NamedValue> values_of(const PlannerConfig& c) {
    std::vector<NamedValue> values;
    for (const Field& f : planner_fields()) values.emplace_back(f.path(), f.get(c));
    return values;
}

std::vector<NamedValue> changes_between(const PlannerConfig& now, const PlannerConfig& wanted) {
    std::vector<NamedValue> changes;
    for (const Field& f : planner_fields()) {
        if (f.get(now) != f.get(wanted)) changes.emplace_back(f.path(), f.get(wanted));
    }
    return changes;
}

}  // namespace dynaplan
