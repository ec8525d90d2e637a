// Finding a row over all tables, and the sections that their names make.
#include "app/config_table.hpp"

#include <algorithm>
#include <set>

namespace dynaplan::app {
namespace {

// control_api_port is the port of http.listen under Dynamo's name; app/config_load applies it.
const LaterField& control_api_port() {
    static const auto row = [] {
        LaterField f;
        f.info.name = "control_api_port";
        f.info.type = FieldType::integer;
        f.info.minimum = 0;
        f.info.maximum = 65535;
        f.info.unit = "port";
        f.info.help = "Dynamo's name for the port of http.listen, on loopback; 0 means no server.";
        f.standard = std::int64_t{9086};
        f.harmless = true;
        return f;
    }();
    return row;
}

struct Index {
    std::map<std::string, Row, std::less<>> by_name;
    std::vector<std::string> names;  // in table order, for suggestions
    std::set<std::string, std::less<>> sections;
    std::vector<Row> rows;

    void add(const Row& row, std::span<const std::string_view> aliases) {
        rows.push_back(row);
        add_name(row.path(), row);
        for (const auto alias : aliases) add_name(std::string{alias}, row);
    }
    void add_name(const std::string& name, const Row& row) {
        by_name.emplace(name, row);
        names.push_back(name);
        for (auto dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
            sections.insert(name.substr(0, dot));
        }
    }
};

Index make_index() {
    Index index;
    for (const Field& f : planner_fields()) index.add(Row{.planner = &f}, f.aliases);
    for (const AppField& f : app_fields()) index.add(Row{.app = &f}, f.aliases);
    for (const ListField& f : list_fields()) index.add(Row{.list = &f}, {});
    for (const LaterField& f : later_fields()) index.add(Row{.later = &f}, {});
    index.add(Row{.later = &control_api_port()}, {});
    return index;
}

const Index& index() {
    static const Index made = make_index();
    return made;
}

}  // namespace

std::string Row::path() const {
    if (list != nullptr) return std::string{list->path};
    const FieldInfo* i = info();
    return i != nullptr ? i->path() : std::string{};
}

const FieldInfo* Row::info() const {
    if (planner != nullptr) return planner;
    if (app != nullptr) return app;
    return later != nullptr ? &later->info : nullptr;
}

std::string_view Row::environment() const {
    if (list != nullptr) return list->environment;
    const FieldInfo* i = info();
    return i != nullptr ? i->environment : std::string_view{};
}

Row find_row(std::string_view dotted_name) {
    const auto found = index().by_name.find(dotted_name);
    return found == index().by_name.end() ? Row{} : found->second;
}

bool is_section(std::string_view dotted_name) { return index().sections.contains(dotted_name); }

std::string nearest_row(std::string_view wrong) {
    static const auto candidates = [] {
        std::vector<std::string> all = index().names;
        for (const auto& section : index().sections) all.push_back(section);
        return all;
    }();
    return nearest_name(wrong, candidates);
}

std::vector<Row> all_rows() { return index().rows; }

}  // namespace dynaplan::app
