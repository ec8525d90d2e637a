// Kinds whose subjects come in later versions: their files are failures, never skips.
#include <string>

#include "check_vectors/kinds.hpp"

namespace dynaplan::check_vectors {

namespace {

std::string discriminator(const nlohmann::json& file, const char* name) {
    const auto member = file.find(name);
    return member != file.end() && member->is_string() ? member->get<std::string>() : std::string{"(none)"};
}

}  // namespace

void check_predictors(const nlohmann::json& file, Report& report) {
    report.fail_file("schema " + discriminator(file, "schema") + " is not implemented in this version");
}

void check_connectors(const nlohmann::json& file, Report& report) {
    const std::string kind = discriminator(file, "kind");
    if (kind == "virtual_scenario") return check_virtual(file, report);
    if (kind == "worker_metadata") return check_worker_metadata(file, report);
    report.fail_file("kind " + kind + " is not implemented in this version");
}

}  // namespace dynaplan::check_vectors
