// One checker per kind of vector files. Each takes one parsed file, decides by what the file says how to
// check it, and reports every case. What it does not know (a schema, a kind, an operation, a member) it
// reports as a failure. Report::begin_file and end_file are the caller's.
#pragma once

#include <nlohmann/json.hpp>

#include "check_vectors/report.hpp"

namespace dynaplan::check_vectors {

void check_core(const nlohmann::json& file, Report& report);
void check_models(const nlohmann::json& file, Report& report);
void check_event_plane(const nlohmann::json& file, Report& report);
void check_predictors(const nlohmann::json& file, Report& report);
void check_connectors(const nlohmann::json& file, Report& report);

// The kinds virtual_scenario and worker_metadata of the connectors.
void check_virtual(const nlohmann::json& file, Report& report);
void check_worker_metadata(const nlohmann::json& file, Report& report);

// The schema planner-fpm-wire/1 of the models.
void check_fpm_wire(const nlohmann::json& file, Report& report);

}  // namespace dynaplan::check_vectors
