// Vectors of the schema planner-predictor/1: lists of operations on one predictor each, under `preset:
// dynamo`. A case with `config` is a Kalman filter, one without is the constant predictor.
#pragma once

#include <nlohmann/json.hpp>

#include "check_vectors/report.hpp"

namespace dynaplan::check_vectors {

// Reports every case of the file; false, and nothing reported, when the file has none.
bool check_predictor(const nlohmann::json& file, Report& report);

}  // namespace dynaplan::check_vectors
