// The scenarios of the virtual connector: the checker fails wherever a vector is wrong or unknown to it, and
// what the format allows beyond the vectors that we have is carried out as the specification says.
#include <sstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "check_vectors/changed_vectors.hpp"
#include "check_vectors/kinds.hpp"
#include "check_vectors/report.hpp"

namespace dynaplan::check_vectors {
namespace {

using nlohmann::json;

json file_of(const char* steps, const char* initial = "{}") {
    const json one{{"id", "one"}, {"initial_etcd", json::parse(initial)}, {"steps", json::parse(steps)}};
    return {{"schema_version", 1}, {"kind", "virtual_scenario"}, {"cases", {one}}};
}

// The differences, one a line.
std::string differences(const json& file) {
    std::ostringstream out;
    Report report{out};
    check_virtual(file, report);
    CHECK(report.passed() + report.failed() > 0);
    CHECK((report.failed() == 0) == out.str().empty());
    return out.str();
}
std::string differences(const char* steps, const char* initial = "{}") {
    return differences(file_of(steps, initial));
}

TEST_CASE("virtual: any change of any expected value is noticed") {
    json file = json::parse(text_of(vectors + "/connectors/virtual.json"));
    REQUIRE_FALSE(file.at("cases").empty());
    for (json& one : file.at("cases")) {
        CAPTURE(one.at("id").get<std::string>());
        for (json& step : one.at("steps")) {
            if (step.contains("then")) check_changes_of(step.at("then"), one, file, "cases", check_virtual);
        }
    }
}

TEST_CASE("virtual: the keys are compared as a whole") {
    CHECK(differences(R"([{"op":"start"},{"op":"set","decode":2,"then":{"etcd":{"decision_id":"0"}}}])") ==
          ": one: step 2 (set): etcd: expected {\"decision_id\":\"0\"}, got "
          "{\"decision_id\":\"0\",\"num_decode_workers\":\"2\"}\n");
}

TEST_CASE("virtual: what is unknown, or cannot be done, is named") {
    const auto has = [](const std::string& text, const char* part) {
        CAPTURE(text);
        return text.find(part) != std::string::npos;
    };
    CHECK(has(differences(R"([{"op":"explode"}])"), "step 1 (explode): op: unknown operation explode"));
    CHECK(has(differences(R"([{"op":"start","lease":1}])"), "start.lease: unknown member"));
    CHECK(has(differences(R"([{"op":"start","then":{"mood":1}}])"), "mood: expected 1"));
    CHECK(has(differences(R"([{"op":"start"},{"op":"start"}])"), "running already"));
    for (const char* step :
         {R"({"op":"set","decode":1})", R"({"op":"wait"})", R"({"op":"coordinator_crash"})",
          R"({"op":"add","component":"decode"})", R"({"op":"watch_down"})"}) {
        CHECK(
            has(differences(file_of((std::string{"["} + step + "]").c_str())), "no coordinator is running"));
    }
    CHECK(has(differences(R"([{"op":"client_complete"}])"), "needs a client_get"));
    CHECK(has(differences(R"([{"op":"start"},{"op":"add","component":"agg"}])"), "agg is no role"));
    CHECK(has(differences(R"([{"op":"start"},{"op":"set","decode":1.5}])"), "1.5 is no whole number"));
    CHECK(has(differences(R"([{"op":"advance","seconds":-1}])"), "-1 is no time span"));
    CHECK(has(differences(R"([{"op":"fail_write","nth":0}])"), "nth 0"));
    CHECK(has(
        differences(R"([{"op":"start"},{"op":"wait","during":[{"at_s":1,"key":"a","value":"b","x":0}]}])"),
        "during: unknown member x"));

    json file = file_of("[]");
    CHECK(differences(file).empty());
    file["client_cases"] = json::array();
    CHECK(has(differences(file), "unknown member client_cases"));
    file = file_of("[]");
    file["schema_version"] = 2;
    CHECK(has(differences(file), "schema_version 2 is unknown"));
    file = file_of("[]");
    file["cases"][0]["options"] = 1;
    CHECK(has(differences(file), "case.options: unknown member"));
}

TEST_CASE("virtual: a foreign decision that the watch missed is found by the guard (V-4)") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"set","prefill":2,"decode":2,"then":{"result":"written"}},
        {"op":"client_complete","decision_id":0},
        {"op":"watch_down"},
        {"op":"raw_put","key":"num_decode_workers","value":"4"},
        {"op":"raw_put","key":"decision_id","value":"5","then":{"read_state":[2,2,0]}},
        {"op":"set","prefill":3,"decode":3,"then":{"result":"skipped_not_ready","new_visible_states":0,
          "read_state":[2,4,5]}},
        {"op":"set","prefill":2,"decode":4,"then":{"result":"unchanged"}}])")
              .empty());
}

TEST_CASE("virtual: a foreign count is adopted where the watch sees it, else overwritten (V-8)") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"set","prefill":2,"decode":2},
        {"op":"client_complete","decision_id":0},
        {"op":"raw_put","key":"num_prefill_workers","value":"9","then":{"new_visible_states":1,"read_state":[9,2,0]}},
        {"op":"set","prefill":9,"decode":2,"then":{"result":"unchanged","read_state":[9,2,0]}},
        {"op":"watch_down"},
        {"op":"raw_put","key":"num_prefill_workers","value":"7","then":{"read_state":[9,2,0]}},
        {"op":"set","decode":3,"then":{"result":"written","new_visible_states":1,"read_state":[9,3,1],
          "etcd":{"decision_id":"1","num_decode_workers":"3","num_prefill_workers":"9","scaled_decision_id":"0"}}}])")
              .empty());
}

TEST_CASE("virtual: an acknowledgement that the watch missed does not make ready; a new process sees it") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"set","decode":2},
        {"op":"watch_down"},
        {"op":"client_complete","decision_id":0},
        {"op":"set","decode":3,"then":{"result":"skipped_not_ready"}},
        {"op":"coordinator_crash"},
        {"op":"start","then":{"read_state":[-1,2,0]}},
        {"op":"set","decode":3,"then":{"result":"written"}},
        {"op":"client_complete","decision_id":1},
        {"op":"set","decode":4,"then":{"result":"written"}}])")
              .empty());
}

TEST_CASE(
    "virtual: unreadable numbers count as unset, the next number lies above the acknowledged one (V-3)") {
    CHECK(
        differences(
            R"([
        {"op":"start","then":{"read_state":[-1,3,-1]}},
        {"op":"set","decode":3,"then":{"result":"unchanged"}},
        {"op":"set","decode":4,"then":{"result":"written","read_state":[-1,4,8]}},
        {"op":"raw_put","key":"decision_id","value":" 8","then":{"read_state":[-1,4,-1]}},
        {"op":"set","decode":5,"then":{"result":"written","read_state":[-1,5,9]}}])",
            R"({"num_decode_workers":"+3","num_prefill_workers":"-1","decision_id":"","scaled_decision_id":"7"})")
            .empty());
}

TEST_CASE("virtual: the write that fails is the nth, and its whole transaction with it (V-5)") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"fail_write","nth":4},
        {"op":"set","prefill":1,"decode":1,"then":{"result":"written"}},
        {"op":"client_complete","decision_id":0},
        {"op":"set","prefill":2,"then":{"result":"error:etcd_write","new_visible_states":0,"read_state":[1,1,0]}},
        {"op":"fail_write","nth":3},
        {"op":"set","prefill":2,"then":{"result":"error:etcd_write","read_state":[1,1,0]}},
        {"op":"set","prefill":2,"then":{"result":"written","read_state":[2,1,1]}}])")
              .empty());
}

TEST_CASE("virtual: a forced write that failed is forced again (V-5)") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"set","decode":1},
        {"op":"set","decode":2,"then":{"result":"skipped_not_ready"}},
        {"op":"advance","seconds":1800},
        {"op":"fail_write","nth":1},
        {"op":"set","decode":2,"then":{"result":"error:etcd_write"}},
        {"op":"set","decode":2,"then":{"result":"forced","read_state":[-1,2,1]}}])")
              .empty());
}

TEST_CASE("virtual: an acknowledgement ends the period of refusals, also when it vanishes again (V-7)") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"set","decode":1},
        {"op":"set","decode":2,"then":{"result":"skipped_not_ready"}},
        {"op":"client_complete","decision_id":0},
        {"op":"client_lease_expires","then":{"etcd":{"decision_id":"0","num_decode_workers":"1"}}},
        {"op":"advance","seconds":1800},
        {"op":"set","decode":2,"then":{"result":"skipped_not_ready"}},
        {"op":"advance","seconds":1800},
        {"op":"set","decode":2,"then":{"result":"forced"}}])")
              .empty());
}

TEST_CASE(
    "virtual: a wait ends before its bound, by another number, or times out at the bound itself (V-10)") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"wait","during":[{"at_s":5,"key":"x","value":"1"}],"then":{"result":"no_decision","elapsed_s":0,"etcd":{}}},
        {"op":"advance","seconds":5,"then":{"etcd":{"x":"1"}}},
        {"op":"set","decode":1},
        {"op":"wait","during":[{"at_s":1800,"key":"scaled_decision_id","value":"0"}],
         "then":{"result":"timed_out","elapsed_s":1800,
                 "etcd":{"decision_id":"0","num_decode_workers":"1","scaled_decision_id":"0","x":"1"}}},
        {"op":"wait","then":{"result":"completed","elapsed_s":0}},
        {"op":"set","decode":2,"then":{"result":"written"}},
        {"op":"wait","during":[{"at_s":1799.5,"key":"scaled_decision_id","value":"1"},
                               {"at_s":3,"key":"scaled_decision_id","value":"0"}],
         "then":{"result":"completed","elapsed_s":1799.5}},
        {"op":"set","decode":3,"then":{"result":"written"}},
        {"op":"wait","during":[{"at_s":7,"key":"decision_id","value":"9"}],
         "then":{"result":"superseded","elapsed_s":7,"read_state":[-1,3,9]}},
        {"op":"watch_down"},
        {"op":"wait","during":[{"at_s":7,"key":"scaled_decision_id","value":"9"}],
         "then":{"result":"timed_out","elapsed_s":1800}}])")
              .empty());
}

TEST_CASE("virtual: one more or less where nothing is remembered or found, negative counts, no role at all") {
    CHECK(differences(R"([
        {"op":"start"},
        {"op":"set","then":{"result":"unchanged","etcd":{}}},
        {"op":"set","prefill":-1,"decode":2,"then":{"result":"error:invalid_argument","etcd":{}}},
        {"op":"remove","component":"decode","then":{"result":"written","read_state":[-1,0,0]}},
        {"op":"client_complete","decision_id":0},
        {"op":"remove","component":"decode","discovered":4,"then":{"result":"unchanged"}},
        {"op":"add","component":"decode","discovered":4,"then":{"result":"written","read_state":[-1,1,1]}}])")
              .empty());
}

TEST_CASE("virtual: the upstream client reads signed numbers, and nothing at all when one is unreadable") {
    CHECK(differences(R"([
        {"op":"client_get","then":{"decision":[-3,5,-1]}},
        {"op":"client_complete","then":{"etcd":{"num_prefill_workers":"-3","num_decode_workers":"+5","scaled_decision_id":"-1"}}},
        {"op":"raw_put","key":"decision_id","value":"1.5"},
        {"op":"client_get","then":{"result":"error"}}])",
                      R"({"num_prefill_workers":"-3","num_decode_workers":"+5"})")
              .empty());
}

}  // namespace
}  // namespace dynaplan::check_vectors
