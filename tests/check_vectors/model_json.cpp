#include "check_vectors/model_json.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace dynaplan::check_vectors {

namespace {

using nlohmann::json;

json axis(const model::SampleStore& store, int features, bool low) {
    json list = json::array();
    for (int i = 0; i < features; ++i) list.push_back(json_of(low ? store.axis_min(i) : store.axis_max(i)));
    return list;
}

json bucket_key(std::int64_t bucket, int features, std::int64_t per_axis) {
    if (features == 1) return json::array({bucket});
    return json::array({bucket / per_axis, bucket % per_axis});
}

}  // namespace

json json_of(const model::EngineModel& m) {
    const TimePoint now{};
    const int features = model::features_of(m.kind());
    const model::SampleStore& store = m.regression().store();
    const model::Fit& fit = m.fit();
    json out;
    out["num_observations"] = m.num_observations();
    out["has_sufficient_data"] = m.sufficient();
    if (fit.state == model::FitState::not_finite) {
        out["fit_raises"] = "ValueError";
    } else {
        out["fitted"] = fit.accepted();
    }
    if (fit.accepted()) {
        out["coef"] = features == 1 ? json::array({fit.coefficient_0})
                                    : json::array({fit.coefficient_0, fit.coefficient_1});
        out["intercept"] = fit.intercept;
        out["rank"] = fit.rank;
        const model::SingularValues s = model::singular_values(store.moments());
        out["singular_values_of_centred_features"] = features == 1 || m.num_observations() == 1
                                                         ? json::array({s.largest})
                                                         : json::array({s.largest, s.smallest});
    }
    out["avg_isl"] = json_of(m.avg_isl(now));
    out["avg_num_prefill"] = json_of(m.avg_num_prefill(now));
    out["avg_decode_len"] = json_of(m.avg_decode_len(now));
    out["avg_num_decode"] = json_of(m.avg_num_decode(now));
    out["avg_prefill_tokens"] = json_of(m.avg_prefill_tokens(now));
    out["max_observed_kv"] = m.max_observed_kv();
    out["axis_min"] = axis(store, features, true);
    out["axis_max"] = axis(store, features, false);

    std::map<std::uint32_t, std::int64_t> sizes;
    json retained = json::array();
    store.each_by_bucket([&](std::uint32_t bucket, const model::SampleStore::Sample& s) {
        ++sizes[bucket];
        json x = json::array();
        for (int i = 0; i < features; ++i) x.push_back(s.x[static_cast<std::size_t>(i)]);
        retained.push_back(json::array({x, json_of(s.wall)}));
    });
    json buckets = json::array();
    for (const auto& [bucket, size] : sizes) {
        buckets.push_back(json::array({bucket_key(bucket, features, store.buckets_per_axis()), size}));
    }
    out["bucket_sizes"] = buckets;
    out["retained_in_fit_order"] = retained;
    return out;
}

void compare_model(Report& report, std::string_view field, const json& expected,
                   const model::EngineModel& m) {
    constexpr double floor_of_rounding = 1e-15;  // models/README.md: residuals at rounding level
    const json got = json_of(m);
    for (const auto& [name, value] : expected.items()) {
        const std::string place = std::string{field} + "." + name;
        if (!got.contains(name)) {
            report.differ(place, value, nullptr);
            continue;
        }
        if (name == "bucket_sizes") {
            const auto sorted = [](json list) {
                std::sort(list.begin(), list.end());
                return list;
            };
            report.compare(place, sorted(value), sorted(got[name]));
        } else if (name == "coef") {
            report.compare(place, value, got[name], Tolerance{1e-9, floor_of_rounding});
        } else if (name == "singular_values_of_centred_features") {
            json want = value;
            json have = got[name];
            const double largest = want.empty() ? 0.0 : want[0].get<double>();
            report.compare(place, want, have,
                           Tolerance{1e-9, std::max(floor_of_rounding, floor_of_rounding * largest)});
        } else {
            report.compare(place, value, got[name], float_1e9);
        }
    }
}

}  // namespace dynaplan::check_vectors
