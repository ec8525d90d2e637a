// What the models make of measured engines, and the readers of documented samples.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "data_files.hpp"
#include "model/capacity.hpp"
#include "model/engine_model.hpp"
#include "model/estimate.hpp"
#include "wire/fpm_trace.hpp"

namespace dynaplan {

namespace {

constexpr int exit_skipped = 77;

ForwardPass prefill_pass(std::int64_t requests, std::int64_t tokens, double wall) {
    ForwardPass pass;
    pass.wall_time = wall;
    pass.scheduled.num_prefill_requests = requests;
    pass.scheduled.sum_prefill_tokens = tokens;
    return pass;
}

ForwardPass decode_pass(std::int64_t requests, std::int64_t kv_tokens, double wall) {
    ForwardPass pass;
    pass.wall_time = wall;
    pass.scheduled.num_decode_requests = requests;
    pass.scheduled.sum_decode_kv_tokens = kv_tokens;
    return pass;
}

model::EngineModel default_model(model::ModelKind kind, std::int64_t window = 64) {
    model::ModelSettings settings;
    settings.kind = kind;
    settings.window = window;
    return model::EngineModel{settings};
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
}

}  // namespace

TEST_CASE("data: the documented line of an FPM trace is read, with the defaults for what it leaves out") {
    std::string line = data::text_of("fpm/documented_fpm_trace_record.json");
    REQUIRE(!line.empty());
    std::replace(line.begin(), line.end(), '\n', ' ');
    wire::TraceRecord record;
    wire::TraceLineParser parser;
    REQUIRE(parser.parse(line, record));
    CHECK(record.component == "backend");
    CHECK(record.observed_at_unix_ms == 1782777601250);
    CHECK(record.fpm.worker_id == "4192");
    CHECK(record.fpm.pass.wall_time == 0.025);
    CHECK(record.fpm.pass.scheduled.sum_decode_kv_tokens == 1024);
    CHECK(record.fpm.pass.scheduled.var_prefill_length == 0.0);
}

TEST_CASE("data: an engine that is bound by launches, whatever the tokens, gets no negative slope") {
    const auto rows = data::rows_of("fpm/gb200_vllm_forward_observed_enforced_flat.csv");
    REQUIRE(rows.size() > 10);
    model::EngineModel prefill = default_model(model::ModelKind::prefill);
    model::EngineModel decode = default_model(model::ModelKind::decode);
    double slowest = 0.0;
    double fastest = 1e9;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto& row = rows[i];
        const double wall = std::stod(row[5]) / 1000.0;
        slowest = std::max(slowest, wall);
        fastest = std::min(fastest, wall);
        const std::int64_t batch = std::stoll(row[2]);
        if (row[1] == "prefill") {
            prefill.observe(prefill_pass(batch, std::stoll(row[3]), wall), TimePoint{});
        } else {
            decode.observe(decode_pass(batch, std::stoll(row[4]), wall), TimePoint{});
        }
    }
    const model::Fit& fit = prefill.fit();
    REQUIRE(fit.accepted());
    CHECK(fit.coefficient_0 >= 0.0);
    CHECK(model::time_to_prefill(fit, 16000, 512, 0.0) > model::time_to_prefill(fit, 1000, 512, 0.0));
    REQUIRE(decode.fit().accepted());
    CHECK(decode.fit().coefficient_0 >= 0.0);
    CHECK(decode.fit().coefficient_1 >= 0.0);
    CHECK(decode.fit()(1, 128) >= fastest);
    CHECK(decode.fit()(1, 128) <= slowest);
    // A pass takes 0.7 s at best: 50 ms between tokens cannot be had, and the search says so.
    const model::Capacity c = model::decode_capacity(
        decode.fit(), {1000.0, 200.0, std::nullopt, std::nullopt, decode.max_observed_kv(), Millis{50.0}});
    CHECK(!c.sla_met);
}

TEST_CASE("data: passes of a measured engine are predicted within a fifth, by the median") {
    const auto rows = data::rows_of("engine/iteration_ms/RTXPRO6000_Llama-3.1-8B_bf16_tp1.csv");
    REQUIRE(rows.size() > 1000);
    model::EngineModel decode = default_model(model::ModelKind::decode, 256);
    model::EngineModel prefill = default_model(model::ModelKind::prefill, 256);
    constexpr std::size_t stride = 37;  // spreads the samples over the whole sweep
    for (std::size_t pass = 0; pass < 2; ++pass) {
        std::vector<double> decode_errors;
        std::vector<double> prefill_errors;
        for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
            const auto& row = rows[1 + i * stride % (rows.size() - 1)];
            const double wall = std::stod(row[7]) / 1000.0;
            const std::int64_t n = std::stoll(row[2]);
            const std::int64_t tokens = std::stoll(row[4]);
            const std::int64_t kv = std::stoll(row[6]);
            if (tokens == 0 && n > 0) {
                if (pass == 0) {
                    decode.observe(decode_pass(n, kv, wall), TimePoint{});
                } else
                    decode_errors.push_back(
                        std::abs(decode.fit()(static_cast<double>(n), static_cast<double>(kv)) / wall - 1.0));
            } else if (n == 0 && tokens > 0 && std::stoll(row[5]) == 0) {
                if (pass == 0)
                    prefill.observe(prefill_pass(1, tokens, wall), TimePoint{});
                else
                    prefill_errors.push_back(
                        std::abs(prefill.fit()(static_cast<double>(tokens)) / wall - 1.0));
            }
        }
        if (pass == 0) continue;
        REQUIRE(!decode_errors.empty());
        REQUIRE(!prefill_errors.empty());
        const double decode_median = median(decode_errors);
        const double prefill_median = median(prefill_errors);
        MESSAGE("median relative error: decode " << decode_median << ", prefill " << prefill_median);
        CHECK(decode_median < 0.2);
        CHECK(prefill_median < 0.2);
    }
}

}  // namespace dynaplan

int main(int argc, char** argv) {
    if (dynaplan::data::folder().empty()) {
        std::printf("the public data is not here (DYNAPLAN_DATA): skipped\n");
        return dynaplan::exit_skipped;
    }
    return doctest::Context{argc, argv}.run();
}
