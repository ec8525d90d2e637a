#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/config_describe.hpp"
#include "app/config_lists.hpp"

namespace dynaplan::app {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const FieldValue& v) {
    if (const auto* b = std::get_if<bool>(&v)) return *b;
    if (const auto* i = std::get_if<std::int64_t>(&v)) return *i;
    if (const auto* d = std::get_if<double>(&v)) return *d;
    if (const auto* text = std::get_if<std::string>(&v)) return *text;
    return nullptr;
}

constexpr const char* hidden = "(hidden)";

FieldValue value_of(const Row& row, const AppConfig& config) {
    const FieldInfo& info = *row.info();
    FieldValue v = row.planner != nullptr ? row.planner->get(config.planner) : row.app->get(config);
    if (info.secret && !std::holds_alternative<std::monostate>(v)) v = std::string{hidden};
    return written_form(info, v);
}

std::string section_of(const Row& row) {
    const std::string path = row.path();
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? std::string{} : path.substr(0, dot);
}

// Text is quoted, so that any YAML reader takes it as text; numbers, switches and enumerated words stand
// bare.
std::string yaml_text(const Row& row, const AppConfig& config) {
    if (row.list != nullptr) return list_text(*row.list, config);
    const FieldValue v = value_of(row, config);
    const bool word = row.info()->type != FieldType::text;
    if (std::holds_alternative<std::string>(v) && !word) {
        return json_of(v).dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return text_of(v);
}

// A hidden value would load as text: it stands in a comment only.
bool is_hidden(const Row& row, const AppConfig& config) {
    return row.list == nullptr && row.info()->secret &&
           value_of(row, config) == FieldValue{std::string{hidden}};
}

std::string origin_of(const LoadedConfig& loaded, const std::string& path) {
    const auto found = loaded.origins.find(path);
    return found == loaded.origins.end() ? "default" : origin_text(found->second);
}

// Rows in the order of the tables, sections together in the order of their first row.
std::vector<std::pair<std::string, std::vector<Row>>> by_section() {
    std::vector<std::pair<std::string, std::vector<Row>>> sections{{"", {}}};
    for (const Row& row : all_rows()) {
        if (row.later != nullptr) continue;
        const std::string name = section_of(row);
        auto at = std::find_if(sections.begin(), sections.end(),
                               [&name](const auto& s) { return s.first == name; });
        if (at == sections.end()) at = sections.insert(sections.end(), {name, {}});
        at->second.push_back(row);
    }
    return sections;
}

std::string name_of(const Row& row) {
    const std::string path = row.path();
    return path.substr(path.rfind('.') + 1);  // npos + 1 is 0
}

}  // namespace

std::string origin_text(const Origin& o) {
    std::string place = o.place;
    if (o.line > 0) place += ":" + std::to_string(o.line);
    switch (o.kind) {
        case Origin::Kind::standard: return "default";
        case Origin::Kind::preset: return "preset " + place;
        case Origin::Kind::environment: return "environment " + place;
        case Origin::Kind::file: return "file " + place;
        case Origin::Kind::flag: return "flag " + place;
    }
    return "default";
}

std::string show_config(const LoadedConfig& loaded) {
    constexpr std::size_t comment_column = 56;
    std::string out;
    std::string opened;  // sections are at most two levels deep
    for (const auto& [section, rows] : by_section()) {
        const auto dot = section.find('.');
        const std::string top = section.substr(0, dot);
        if (!section.empty() && top != opened) {
            out += top + ":\n";
            opened = top;
        }
        std::string indent(section.empty() ? 0 : 2, ' ');
        if (dot != std::string::npos) {
            out += indent + section.substr(dot + 1) + ":\n";
            indent += "  ";
        }
        for (const Row& row : rows) {
            std::string line = indent + name_of(row) + ": " + yaml_text(row, loaded.config);
            if (is_hidden(row, loaded.config)) line = indent + "# " + name_of(row) + ": " + hidden;
            if (line.size() < comment_column) line.resize(comment_column, ' ');
            out += line + "  # " + origin_of(loaded, row.path()) + "\n";
        }
    }
    return out;
}

std::string show_config_json(const LoadedConfig& loaded) {
    Json config = Json::object();
    Json origins = Json::object();
    for (const auto& [section, rows] : by_section()) {
        Json* at = &config;
        for (std::size_t from = 0; !section.empty() && from <= section.size();) {
            const auto to = std::min(section.find('.', from), section.size());
            at = &(*at)[section.substr(from, to - from)];
            from = to + 1;
        }
        for (const Row& row : rows) {
            const std::string path = row.path();
            (*at)[name_of(row)] = row.list != nullptr ? Json::parse(list_text(*row.list, loaded.config))
                                                      : json_of(value_of(row, loaded.config));
            const auto found = loaded.origins.find(path);
            const Origin origin = found == loaded.origins.end() ? Origin{} : found->second;
            const std::string text = origin_text(origin);
            const auto space = text.find(' ');
            Json one{{"from", text.substr(0, space)}};
            if (space != std::string::npos) one["place"] = text.substr(space + 1);
            origins[path] = one;
        }
    }
    return Json{{"config", config}, {"origins", origins}}.dump(2, ' ', false,
                                                               Json::error_handler_t::replace) +
           "\n";
}

}  // namespace dynaplan::app
