// The reference's own configurations load here, and come out as it has them after its validation.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "config_test_files.hpp"

using namespace dynaplan;
using namespace dynaplan::app;
using Json = nlohmann::json;

namespace {

double number(const FieldValue& v) {
    if (const auto* i = std::get_if<std::int64_t>(&v)) return static_cast<double>(*i);
    return std::get<double>(v);
}

void check_equal(const PlannerConfig& config, const Json& expected) {
    for (const auto& [name, value] : expected.items()) {
        CAPTURE(name);
        const Field* field = find_field(name);
        REQUIRE(field != nullptr);
        const FieldValue ours = field->get(config);
        if (value.is_number()) {
            CHECK(number(ours) == value.get<double>());
        } else if (value.is_boolean()) {
            CHECK(ours == FieldValue{value.get<bool>()});
        } else {
            CHECK(ours == FieldValue{value.get<std::string>()});
        }
    }
}

}  // namespace

TEST_CASE(
    "configuration: every vector of the core loads under preset dynamo and gives its effective values") {
    int files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator{DYNAPLAN_SOURCE_ROOT "/tests/vectors/core"}) {
        if (entry.path().extension() != ".json") continue;
        ++files;
        const Json scenario = Json::parse(text_of_file(entry.path()));
        for (const char* part : {"config", "effective_config"}) {
            CAPTURE(entry.path().filename().string());
            CAPTURE(part);
            Json config = scenario.at(part);
            config["preset"] = "dynamo";
            const auto loaded = load(config.dump());
            CHECK(loaded.problems == std::vector<std::string>{});
            check_equal(loaded.config.planner, scenario.at("effective_config"));
            CHECK(loaded.config.planner.policy == dynamo_policy());
        }
    }
    CHECK(files > 100);
}
