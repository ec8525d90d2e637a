#include "check_vectors/check_predictor.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/config.hpp"
#include "forecast/kalman.hpp"
#include "forecast/predictor.hpp"

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

struct Tolerances {
    Tolerance value = float_1e9;
    Tolerance covariance{1e-7, 0.0};  // models/README.md
};

Tolerances tolerances_of(const json& file) {
    Tolerances t;
    const auto stated = file.find("tolerance");
    if (stated == file.end()) return t;
    t.value.relative = stated->value("default_relative", t.value.relative);
    t.covariance.relative = stated->value("covariance_relative", t.covariance.relative);
    return t;
}

// One predictor; `kalman` when the vectors also tell what is inside it.
struct Subject {
    std::unique_ptr<forecast::Predictor> predictor;
    const forecast::Kalman* kalman = nullptr;
};

json effective_of(const PlannerConfig& c) {
    return {{"kalman_q_level", json_of(c.kalman_q_level)},
            {"kalman_q_trend", json_of(c.kalman_q_trend)},
            {"kalman_r", json_of(c.kalman_r)},
            {"kalman_min_points", c.kalman_min_points},
            {"load_predictor_log1p", c.load_predictor_log1p}};
}

Subject subject_of(const json& c, Report& report) {
    PlannerConfig config = config_of(Preset::dynamo);
    Subject subject;
    if (!c.contains("config")) {
        config.load_predictor = LoadPredictor::constant;
        subject.predictor = forecast::make_predictor(config);
        return subject;
    }
    const json& given = c.at("config");
    report.only_members("config", given,
                        {"kalman_q_level", "kalman_q_trend", "kalman_r", "kalman_min_points",
                         "load_predictor_log1p", "load_predictor"});
    if (given.value("load_predictor", "kalman") != "kalman") {
        throw std::runtime_error("a case with config is a Kalman filter");
    }
    config.load_predictor = LoadPredictor::kalman;
    config.kalman_q_level = given.value("kalman_q_level", config.kalman_q_level);
    config.kalman_q_trend = given.value("kalman_q_trend", config.kalman_q_trend);
    config.kalman_r = given.value("kalman_r", config.kalman_r);
    config.kalman_min_points = given.value("kalman_min_points", config.kalman_min_points);
    config.load_predictor_log1p = given.value("load_predictor_log1p", config.load_predictor_log1p);
    if (c.contains("effective")) {
        report.compare_members("effective", c.at("effective"), effective_of(config));
    }
    auto kalman =
        std::make_unique<forecast::Kalman>(forecast::kalman_config(config), config.policy.forecast_bound);
    subject.kalman = kalman.get();
    subject.predictor = std::move(kalman);
    return subject;
}

double number_of(const json& value) {
    const auto number = as_double(value);
    if (!number) throw std::runtime_error("not a number: " + shown(value));
    return *number;
}

void check_predict(const json& op, Subject& s, const Tolerances& tolerances, Report& report) {
    const auto forecast = s.predictor->predict();
    const json& expected = op.at(1);
    const bool raises = expected.is_object() && expected.contains("raises");
    if (raises != !forecast) {
        report.differ("predict", expected, forecast ? json_of(*forecast) : json(forecast.error().message));
    } else if (!raises) {
        report.compare("predict", expected, json_of(*forecast), tolerances.value);
    }
    if (op.size() == 2) return;
    if (op.size() != 4 || !s.kalman) return report.fail("predict", "not the members that this program knows");
    const auto& x = s.kalman->state();
    const auto& p = s.kalman->covariance();
    report.compare("state", op.at(2), json::array({json_of(x[0]), json_of(x[1])}), tolerances.value);
    const json rows = json::array(
        {json::array({json_of(p[0]), json_of(p[1])}), json::array({json_of(p[2]), json_of(p[3])})});
    report.compare("covariance", op.at(3), rows, tolerances.covariance);
}

void check_case(const json& c, const Tolerances& tolerances, Report& report) {
    report.only_members("case", c, {"name", "note", "config", "effective", "ops"});
    Subject subject = subject_of(c, report);
    std::int64_t index = 0;
    for (const json& op : c.at("ops")) {
        const auto name = op.at(0).get<std::string>();
        report.at_step("op " + std::to_string(index++) + " " + name);
        const std::size_t members = op.size();
        if (name == "add" && members == 2) {
            subject.predictor->add(number_of(op.at(1)));
        } else if (name == "predict" && members >= 2) {
            check_predict(op, subject, tolerances, report);
        } else if (name == "last" && members == 2) {
            report.compare("last", op.at(1), json_of(subject.predictor->last_value()), tolerances.value);
        } else if (name == "reset_idle_skip" && members == 1) {
            subject.predictor->reset_idle_skip();
        } else {
            report.fail("op", "unknown operation " + shown(op));
        }
    }
}

}  // namespace

bool check_predictor(const json& file, Report& report) {
    const auto cases = file.find("cases");
    if (cases == file.end() || !cases->is_array() || cases->empty()) return false;
    const Tolerances tolerances = tolerances_of(file);
    std::int64_t index = 0;
    for (const json& c : *cases) {
        const std::string number = "case " + std::to_string(index++);
        const std::string name = c.is_object() ? c.value("name", number) : number;
        report.run_case(name, [&] { check_case(c, tolerances, report); });
    }
    return true;
}

}  // namespace dynaplan::check_vectors
