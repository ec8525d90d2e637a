// The committed pages that are made from the table: UPDATE=1 writes them again.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "app/command_config.hpp"
#include "app/config_describe.hpp"
#include "config_test_files.hpp"

using namespace dynaplan;
using namespace dynaplan::app;
using Json = nlohmann::json;

namespace {

constexpr std::string_view marker = "<!-- From here on made from the table of fields. -->\n";

bool updating() {
    const char* update = std::getenv("UPDATE");
    return update != nullptr && std::string_view{update} == "1";
}

std::string stale(const std::string& file) {
    return file + " is stale: run the test app with UPDATE=1 in the environment, and look at the difference";
}

void check_page(const std::string& name, const std::string& wanted) {
    const std::string file = std::string{DYNAPLAN_SOURCE_ROOT} + "/" + name;
    if (updating()) std::ofstream{file, std::ios::binary} << wanted;
    const bool fresh = text_of_file(file) == wanted;
    INFO(stale(name));
    CHECK(fresh);
}

// A small judge of the schema's own words, enough for those that it uses.
bool accepts(const Json& schema, const Json& value) {
    if (schema.contains("anyOf")) {
        return std::ranges::any_of(schema["anyOf"], [&](const Json& s) { return accepts(s, value); });
    }
    if (schema.contains("const")) return schema["const"] == value;
    if (schema.contains("enum")) return std::ranges::find(schema["enum"], value) != schema["enum"].end();
    const auto fits = [&value](const std::string& type) {
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        return type == "null" && value.is_null();
    };
    const Json& type = schema.at("type");
    const bool type_fits = type.is_string() ? fits(type) : std::ranges::any_of(type, fits);
    if (!type_fits) return false;
    if (value.is_number()) {
        const double v = value;
        if (schema.contains("minimum") && v < schema["minimum"].get<double>()) return false;
        if (schema.contains("exclusiveMinimum") && v <= schema["exclusiveMinimum"].get<double>())
            return false;
        if (schema.contains("maximum") && v > schema["maximum"].get<double>()) return false;
    }
    for (const char* most : {"maxItems", "maxProperties"}) {
        if (schema.contains(most) && value.size() > schema[most].get<std::size_t>()) return false;
    }
    if (value.is_object() && schema.contains("properties")) {
        return std::ranges::all_of(value.items(), [&](const auto& item) {
            return schema["properties"].contains(item.key()) &&
                   accepts(schema["properties"][item.key()], item.value());
        });
    }
    if (value.is_array() && schema.contains("items")) {
        return std::ranges::all_of(value, [&](const Json& one) { return accepts(schema["items"], one); });
    }
    return true;
}

}  // namespace

TEST_CASE("pages: the committed schema is what the table says") {
    check_page("proto/config.schema.json", config_schema());
}

TEST_CASE("pages: the reference part of docs/configuration.md is what the table says") {
    const std::string page = text_of_file(DYNAPLAN_SOURCE_ROOT "/docs/configuration.md");
    const auto at = page.find(marker);
    REQUIRE(at != std::string::npos);
    check_page("docs/configuration.md", page.substr(0, at + marker.size()) + "\n" + config_reference());
}

TEST_CASE("pages: the schema accepts what show writes and refuses what check refuses") {
    const Json schema = Json::parse(config_schema());
    CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
    for (const char* config : {"{}", R"({"preset": "dynamo"})", R"({"bus": {"endpoints": ["tcp://h:1"]}})"}) {
        const Json shown = Json::parse(show_config_json(load(config)));
        CHECK(accepts(schema, shown["config"]));
    }
    for (const char* wrong :
         {R"({"ttft": 0})", R"({"mode": "x"})", R"({"nothing": 1})", R"({"policy": {"x": 1}})",
          R"({"min_gpu_budget": 3})", R"({"scheduling": {"external_plugins": [1]}})",
          R"({"policy": {"decision_step_max": "off"}})"}) {
        CAPTURE(wrong);
        CHECK_FALSE(accepts(schema, Json::parse(wrong)));
        CHECK_FALSE(load(wrong).ok());
    }
    CHECK(accepts(schema, Json::parse(R"({"ttft_ms": 300, "policy": {"decision_step_max": "none"}})")));
}

TEST_CASE("show: what it prints loads again to the same configuration") {
    const TestFolder folder;
    const auto first = load(R"({"preset": "dynamo", "mode": "agg", "namespace": "off", "max_gpu_budget": -1,
                                "bus": {"endpoints": [{"url": "tcp://h:1", "role": "agg"}]}, "http": {"listen": "off"},
                                "metric_pulling_prometheus_extra_query_params": {"a": "b"}})");
    REQUIRE(first.ok());
    const std::string shown = show_config(first);
    const auto second = load(folder.write("shown.yaml", shown));
    CHECK(second.problems == std::vector<std::string>{});
    CHECK(Json::parse(show_config_json(first))["config"] == Json::parse(show_config_json(second))["config"]);
}

TEST_CASE("show: each value says where it comes from, and secrets stay hidden") {
    const TestFolder folder;
    ConfigRequest request;
    request.config = folder.write("p.yaml", "itl: 40\nmetric_pulling_prometheus_token: hunter2\n");
    request.overrides = {{"--ttft", "ttft", "300"}};
    request.environment = variables({{"DYN_NAMESPACE", "ns"}, {"ETCD_AUTH_PASSWORD", "hunter2"}});
    Printed printed;
    CHECK(run_config_show(request, false, printed) == 0);
    const auto line_with = [&printed](std::string_view start) {
        const auto at = printed.out.find("\n" + std::string{start});
        REQUIRE(at != std::string::npos);
        return printed.out.substr(at + 1, printed.out.find('\n', at + 1) - at - 1);
    };
    CHECK(line_with("ttft: 300").ends_with("# flag --ttft"));
    CHECK(line_with("itl: 40").ends_with("p.yaml:1"));
    CHECK(line_with("namespace: \"ns\"").ends_with("# environment DYN_NAMESPACE"));
    CHECK(line_with("optimization_target: sla").ends_with("# preset dynaplan"));
    CHECK(line_with("min_endpoint: 1").ends_with("# default"));
    CHECK(printed.out.find("hunter2") == std::string::npos);
    Printed json;
    CHECK(run_config_show(request, true, json) == 0);
    CHECK(json.out.find("hunter2") == std::string::npos);
    CHECK(Json::parse(json.out)["origins"]["ttft"] == Json{{"from", "flag"}, {"place", "--ttft"}});
}

TEST_CASE("check: exit code 0 for a valid configuration, 2 with every problem on stderr") {
    const TestFolder folder;
    ConfigRequest request;
    request.config = folder.write("good.yaml", "{prefill_engine_num_gpu: 1, decode_engine_num_gpu: 1}");
    Printed good;
    CHECK(run_config_check(request, good) == 0);
    CHECK(good.out == *request.config + ": valid\n");
    CHECK(good.err.empty());
    request.config = folder.write("bad.yaml", "ttft: x\nitl: y\n");
    Printed bad;
    CHECK(run_config_check(request, bad) == 2);
    CHECK(bad.out.empty());
    CHECK(bad.err.find("bad.yaml:1: ttft:") != std::string::npos);
    CHECK(bad.err.find("bad.yaml:2: itl:") != std::string::npos);
    Printed shown;
    CHECK(run_config_show(request, false, shown) == 2);
    CHECK(shown.out.empty());
}
