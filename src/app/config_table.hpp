// The rows beside the planner's own (core/config_field.hpp): the rest of Dynamo's fields and our sections as
// typed rows, the few fields that are lists or maps, and the fields that Dynamo knows and Dynaplan does not
// have yet. One lookup over all of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/config_app.hpp"
#include "core/config_field.hpp"

namespace dynaplan::app {

using AppField = FieldOf<AppConfig>;

// A list or a map; exactly one of the accessors is set.
struct ListField {
    std::string_view path{};
    std::string_view environment{};
    std::string_view help{};
    std::vector<std::string>& (*texts)(AppConfig&) = nullptr;
    std::vector<BusEndpoint>& (*endpoints)(AppConfig&) = nullptr;
    std::map<std::string, std::string>& (*pairs)(AppConfig&) = nullptr;
};

// Known to Dynamo, not here yet: accepted at its default. With `harmless` any valid value is accepted, since
// it changes nothing that the planner does.
struct LaterField {
    FieldInfo info{};
    FieldValue standard{};    // Dynamo's default; null also stands for an empty list or map
    bool structured = false;  // a list or a map in Dynamo
    bool harmless = false;
    std::string_view missing{};  // what does not exist yet: "profiling sweeps are not read"
    [[nodiscard]] std::string path() const { return info.path(); }
};

std::span<const AppField> app_fields();
std::span<const ListField> list_fields();
std::span<const LaterField> later_fields();

// What a dotted name stands for. At most one pointer is set; none: no such field.
struct Row {
    const Field* planner = nullptr;
    const AppField* app = nullptr;
    const ListField* list = nullptr;
    const LaterField* later = nullptr;
    [[nodiscard]] bool found() const {
        return planner != nullptr || app != nullptr || list != nullptr || later != nullptr;
    }
    [[nodiscard]] std::string path() const;       // the canonical name
    [[nodiscard]] const FieldInfo* info() const;  // null for a list
    [[nodiscard]] std::string_view environment() const;
};
Row find_row(std::string_view dotted_name);
bool is_section(std::string_view dotted_name);  // "policy", "capabilities", "capabilities.decode", ...
std::string nearest_row(std::string_view wrong);
std::vector<Row> all_rows();  // planner, app, list, later; each in the order of its table

}  // namespace dynaplan::app
