// The tables, told to people and programs: the effective configuration with the origin of each value, the
// JSON schema, and the reference part of docs/configuration.md. All three are made from the rows alone.
#pragma once

#include <string>

#include "app/config_load.hpp"

namespace dynaplan::app {

// YAML that loads again, each line with a comment that says where the value comes from. Secrets are not
// shown.
std::string show_config(const LoadedConfig&);
// {"config": {...}, "origins": {"ttft": {"from": "file", "place": "planner.yaml:3"}, ...}}, indented.
std::string show_config_json(const LoadedConfig&);

// JSON Schema, draft 2020-12. It describes the recommended form: numbers as numbers, August names as
// deprecated aliases. Ends with a newline.
std::string config_schema();

// Markdown tables, one per section. Ends with a newline.
std::string config_reference();

// "file planner.yaml:3", "flag --ttft", "environment PROMETHEUS_ENDPOINT", "preset dynaplan" or "default".
std::string origin_text(const Origin&);

}  // namespace dynaplan::app
