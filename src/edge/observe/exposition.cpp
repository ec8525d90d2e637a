#include "observe/exposition.hpp"

#include <limits>
#include <sstream>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "core/assert.hpp"

namespace dynaplan::observe {

struct Exposition::Families {
    std::vector<prometheus::MetricFamily> list;
    void begin(std::string_view name, std::string_view help, prometheus::MetricType type) {
        prometheus::MetricFamily& family = list.emplace_back();
        family.name = name;
        family.help = help;
        family.type = type;
    }
};

Exposition::Exposition() : families_{std::make_unique<Families>()} {}
Exposition::~Exposition() = default;

void Exposition::counter(std::string_view name, std::string_view help) {
    DYNAPLAN_ASSERT(name.ends_with("_total"));
    families_->begin(name, help, prometheus::MetricType::Counter);
}

void Exposition::gauge(std::string_view name, std::string_view help) {
    families_->begin(name, help, prometheus::MetricType::Gauge);
}

void Exposition::sample(double value, Labels labels) {
    prometheus::MetricFamily& family = families_->list.back();
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    for (const auto& [name, text] : labels) metric.label.push_back({std::string{name}, std::string{text}});
    if (family.type == prometheus::MetricType::Counter) {
        metric.counter.value = value;
    } else {
        metric.gauge.value = value;
    }
}

void Exposition::histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                           std::span<const std::uint64_t> counts, double sum) {
    DYNAPLAN_ASSERT(counts.size() == bounds.size() + 1);
    families_->begin(name, help, prometheus::MetricType::Histogram);
    auto& out = families_->list.back().metric.emplace_back().histogram;
    std::uint64_t up_to = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        up_to += counts[i];
        const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
        out.bucket.push_back({up_to, bound});
    }
    out.sample_count = up_to;
    out.sample_sum = sum;
}

std::string Exposition::text() const {
    std::ostringstream out;
    prometheus::TextSerializer{}.Serialize(out, families_->list);
    return out.str();
}

}  // namespace dynaplan::observe
