// Finding rows by name, and the name that a misspelt one most likely meant.
#include <algorithm>
#include <array>
#include <map>

#include "core/config_field.hpp"
#include "core/config_field_row.hpp"

namespace dynaplan {
namespace {

// No field name is longer than this; a longer text is not a slip, and comparing it would cost.
constexpr std::size_t name_max = 96;

// Edits between two names: insert, delete, replace, and swap of neighbours (optimal string alignment). Names
// that differ by more than `most` in length get most + 1 at once.
std::size_t edits(std::string_view a, std::string_view b, std::size_t most) {
    const std::size_t longer = std::max(a.size(), b.size());
    if (longer > name_max || longer - std::min(a.size(), b.size()) > most) return most + 1;
    std::array<std::array<std::size_t, name_max + 1>, 3>
        rows;  // i - 2, i - 1, i; written before they are read
    for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto& now = rows[i % 3];
        const auto& before = rows[(i + 2) % 3];
        const auto& earlier = rows[(i + 1) % 3];
        now[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            now[j] = std::min({before[j] + 1, now[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = std::min(now[j], earlier[j - 2] + 1);
            }
        }
    }
    return rows[a.size() % 3][b.size()];
}

// '-' and upper case are slips of the shift key, not other names.
std::string normalised(std::string_view name) {
    std::string out{name};
    for (char& c : out) {
        if (c == '-') c = '_';
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

std::string_view last_part(std::string_view dotted) {
    const auto dot = dotted.rfind('.');
    return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

std::vector<Field> all_rows() {
    std::vector<Field> all;
    for (const auto& part : {fields::top_level_rows(), fields::policy_rows(), fields::capability_rows()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

}  // namespace

std::string FieldInfo::path() const {
    return section.empty() ? std::string{name} : std::string{section} + "." + std::string{name};
}

std::span<const Field> planner_fields() {
    static const std::vector<Field> rows = all_rows();
    return rows;
}

const Field* find_field(std::string_view dotted_name) {
    static const auto by_name = [] {
        std::map<std::string, const Field*, std::less<>> names;
        for (const Field& f : planner_fields()) {
            names.emplace(f.path(), &f);
            for (const auto alias : f.aliases) names.emplace(alias, &f);
        }
        return names;
    }();
    const auto found = by_name.find(dotted_name);
    return found == by_name.end() ? nullptr : found->second;
}

std::string nearest_name(std::string_view wrong, std::span<const std::string> candidates) {
    if (wrong.empty() || wrong.size() > name_max) return {};
    const std::string name = normalised(wrong);
    const auto near_enough = std::max<std::size_t>(1, name.size() / 3);
    const std::string_view own_part = last_part(name);
    std::string best;
    std::size_t best_edits = near_enough + 1;
    for (const std::string& candidate : candidates) {
        std::size_t distance = edits(name, candidate, near_enough);
        // The same last part in another section counts as one edit: the field exists, but not there.
        const std::string_view part = last_part(candidate);
        if (part.size() < candidate.size() || own_part.size() < name.size()) {
            const std::size_t most = own_part.size() / 4;
            const std::size_t parts = edits(own_part, part, most);
            if (parts <= most) distance = std::min(distance, parts + 1);
        }
        if (distance < best_edits) {
            best = candidate;
            best_edits = distance;
        }
    }
    return best;
}

std::string nearest_field(std::string_view wrong) {
    static const auto names = [] {
        std::vector<std::string> all;
        for (const Field& f : planner_fields()) {
            all.push_back(f.path());
            for (const auto alias : f.aliases) all.emplace_back(alias);
        }
        return all;
    }();
    return nearest_name(wrong, names);
}

}  // namespace dynaplan
