#include <nlohmann/json.hpp>

#include "app/config_describe.hpp"
#include "app/config_lists.hpp"

namespace dynaplan::app {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const FieldInfo& f, const FieldValue& written) {
    const FieldValue v = written_form(f, written);
    if (const auto* b = std::get_if<bool>(&v)) return *b;
    if (const auto* i = std::get_if<std::int64_t>(&v)) return *i;
    if (const auto* text = std::get_if<std::string>(&v)) return *text;
    if (const auto* d = std::get_if<double>(&v)) return *d;
    return nullptr;
}

// Whole bounds are written as whole numbers.
Json bound(double b) {
    if (b == static_cast<double>(static_cast<std::int64_t>(b))) return static_cast<std::int64_t>(b);
    return b;
}

void add_numeric(Json& out, const FieldInfo& f) {
    out["type"] = f.type == FieldType::integer ? "integer" : "number";
    if (f.minimum) out[f.above_minimum ? "exclusiveMinimum" : "minimum"] = bound(*f.minimum);
    if (f.maximum) out["maximum"] = bound(*f.maximum);
}

Json type_of(const FieldInfo& f) {
    Json out = Json::object();
    switch (f.type) {
        case FieldType::boolean: out["type"] = "boolean"; break;
        case FieldType::text: out["type"] = "string"; break;
        case FieldType::enumeration: {
            out["enum"] = f.values;
            if (f.nullable) out["enum"].push_back(nullptr);
            return out;
        }
        case FieldType::integer:
        case FieldType::number: add_numeric(out, f); break;
    }
    if (!f.zero_word.empty()) return Json{{"anyOf", {out, {{"const", f.zero_word}}}}};
    if (f.nullable) out["type"] = {out["type"], "null"};
    return out;
}

Json list_type(const ListField& f) {
    if (f.pairs != nullptr)
        return {{"type", {"object", "null"}}, {"additionalProperties", {{"type", "string"}}}};
    if (f.texts != nullptr) return {{"type", "array"}, {"items", {{"type", "string"}}}};
    const Json endpoint{{"type", "object"},
                        {"properties",
                         {{"url", {{"type", "string"}}},
                          {"role", {{"enum", {"prefill", "decode", "agg"}}}},
                          {"worker_id", {{"type", "string"}}}}},
                        {"required", {"url"}},
                        {"additionalProperties", false}};
    return {{"type", "array"}, {"items", {{"anyOf", {{{"type", "string"}}, endpoint}}}}};
}

// A field that is not there yet may only stand at its default.
Json later_type(const LaterField& f) {
    if (f.structured) {
        return {{"anyOf",
                 {{{"type", "null"}},
                  {{"type", "array"}, {"maxItems", 0}},
                  {{"type", "object"}, {"maxProperties", 0}}}}};
    }
    if (f.harmless) return type_of(f.info);
    if (f.info.name == "min_gpu_budget") return {{"type", "integer"}, {"maximum", -1}};
    return {{"const", json_of(f.info, f.standard)}};
}

Json describe(const Row& row) {
    if (row.list != nullptr) {
        Json out = list_type(*row.list);
        out["description"] = row.list->help;
        if (!row.list->environment.empty()) out["x-environment"] = row.list->environment;
        out["default"] = Json::parse(list_text(*row.list, AppConfig{}));
        return out;
    }
    const FieldInfo& info = *row.info();
    Json out = row.later != nullptr ? later_type(*row.later) : type_of(info);
    out["description"] = info.help;
    if (!info.unit.empty()) out["x-unit"] = info.unit;
    if (row.planner != nullptr) {
        const FieldValue ours = row.planner->get(config_of(Preset::dynaplan));
        const FieldValue theirs = row.planner->get(config_of(Preset::dynamo));
        out["default"] = json_of(info, ours);
        if (ours != theirs) out["x-default-dynamo"] = json_of(info, theirs);
        out["x-while-running"] = info.while_running;
    } else {
        out["default"] = json_of(info, row.app != nullptr ? row.app->get(AppConfig{}) : row.later->standard);
    }
    if (!info.environment.empty()) out["x-environment"] = info.environment;
    return out;
}

// The object that holds a dotted name's last part; made when it is not there.
Json& properties_for(Json& root, const std::string& path) {
    Json* at = &root;
    for (std::size_t from = 0;;) {
        const auto dot = path.find('.', from);
        if (dot == std::string::npos) return (*at)["properties"];
        Json& section = (*at)["properties"][path.substr(from, dot - from)];
        if (section.is_null()) {
            section = {{"type", {"object", "null"}},
                       {"additionalProperties", false},
                       {"properties", Json::object()}};
        }
        at = &section;
        from = dot + 1;
    }
}

void add(Json& root, const std::string& path, Json what) {
    properties_for(root, path)[path.substr(path.rfind('.') + 1)] = std::move(what);
}

}  // namespace

std::string config_schema() {
    Json root{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "Dynaplan configuration"},
              {"description",
               "Made by `dynaplan config schema` from the table of fields. x-unit, x-environment, "
               "x-while-running and x-default-dynamo add what JSON Schema has no word for."},
              {"type", "object"},
              {"additionalProperties", false},
              {"properties", Json::object()}};
    for (const Row& row : all_rows()) {
        add(root, row.path(), describe(row));
        const FieldInfo* info = row.info();
        if (info == nullptr) continue;
        for (const auto alias : info->aliases) {
            Json named = row.later != nullptr ? later_type(*row.later) : type_of(*info);
            named["description"] = "Another name for " + row.path() + ".";
            named["deprecated"] = true;
            add(root, std::string{alias}, std::move(named));
        }
    }
    return root.dump(2) + "\n";
}

}  // namespace dynaplan::app
