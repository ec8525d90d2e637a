// The checkers of the event plane's kinds, by what they look at (event-plane specification, section 12). Each
// takes one vector.
#pragma once

#include <nlohmann/json.hpp>

#include "check_vectors/report.hpp"

namespace dynaplan::check_vectors {

// check_event.cpp: envelopes, frames, subjects
void check_envelope_msgpack(const nlohmann::json& vector, Report& report);
void check_envelope_json(const nlohmann::json& vector, Report& report);
void check_zmq_event(const nlohmann::json& vector, Report& report);
void check_zmq_engine_hop(const nlohmann::json& vector, Report& report);
void check_subject(const nlohmann::json& vector, Report& report);
void check_subject_set(const nlohmann::json& vector, Report& report);

// check_discovery.cpp: keys, values, ids
void check_kv_pair(const nlohmann::json& vector, Report& report);
void check_kv_delete(const nlohmann::json& vector, Report& report);
void check_file_name(const nlohmann::json& vector, Report& report);
void check_id_mapping(const nlohmann::json& vector, Report& report);
void check_kube_instance_id(const nlohmann::json& vector, Report& report);

}  // namespace dynaplan::check_vectors
