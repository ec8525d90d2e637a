#include "reference/twin_model.hpp"

#include <algorithm>
#include <limits>

#include <Eigen/Dense>

namespace dynaplan::reference {

namespace {
constexpr double edge = 1e-9;  // relative
}

void Edges::look(double a, double b) {
    if (std::abs(a - b) <= edge * std::max(std::abs(a), std::abs(b))) ++seen;
}

void Edges::look_at_whole(double quotient) {
    if (quotient == 0.0) return;  // exact on both sides
    if (std::abs(quotient - std::round(quotient)) <= edge * std::max(1.0, std::abs(quotient))) ++seen;
}

void MeanOf::add(double value) {
    if (values_.empty() && value == 0.0) return;  // zeros count from the first other value on
    values_.push_back(value);
    if (static_cast<std::int64_t>(values_.size()) > window_) values_.pop_front();
}

double MeanOf::value() const {
    if (values_.empty()) return 0.0;
    long double sum = 0.0;
    for (const double v : values_) sum += v;
    return static_cast<double>(sum / static_cast<long double>(values_.size()));
}

TwinModel::TwinModel(Kind kind, const PlannerConfig& c)
    : isl{c.max_num_fpm_samples},
      prefill_requests{c.max_num_fpm_samples},
      prefill_tokens{c.max_num_fpm_samples},
      decode_length{c.max_num_fpm_samples},
      decode_requests{c.max_num_fpm_samples},
      kind_{kind},
      window_{c.max_num_fpm_samples},
      per_axis_{kind == Kind::prefill
                    ? c.fpm_sample_bucket_size
                    : std::llround(std::sqrt(static_cast<double>(c.fpm_sample_bucket_size)))},
      min_observations_{c.load_min_observations} {}

void TwinModel::observe(const ForwardPass& p) {
    const ScheduledRequests& s = p.scheduled;
    const auto tokens = static_cast<double>(s.sum_prefill_tokens);
    const auto prompts = static_cast<double>(s.num_prefill_requests);
    const auto kv = static_cast<double>(s.sum_decode_kv_tokens);
    const auto batch = static_cast<double>(s.num_decode_requests);
    if (kind_ != Kind::decode) {
        if (prompts > 0.0) isl.add(tokens / prompts);
        prefill_requests.add(prompts);
    }
    if (kind_ != Kind::prefill) {
        if (batch > 0.0) decode_length.add(kv / batch);
        decode_requests.add(batch);
    }
    if (kind_ == Kind::agg) prefill_tokens.add(tokens);
    if (kind_ == Kind::decode) max_observed_kv = std::max(max_observed_kv, s.sum_decode_kv_tokens);
    if (p.wall_time == 0.0) return;
    switch (kind_) {
        case Kind::prefill: add({tokens, 0.0, p.wall_time}); break;
        case Kind::decode: add({batch, kv, p.wall_time}); break;
        case Kind::agg: add({tokens, kv, p.wall_time}); break;
    }
}

std::int64_t TwinModel::size() const {
    std::int64_t n = 0;
    for (const auto& [key, samples] : buckets_) n += static_cast<std::int64_t>(samples.size());
    return n;
}

std::int64_t TwinModel::index(double value, double low, double high) const {
    if (high <= low) return 0;
    const auto i =
        static_cast<std::int64_t>(std::trunc((value - low) / (high - low) * static_cast<double>(per_axis_)));
    return std::clamp<std::int64_t>(i, 0, per_axis_ - 1);
}

void TwinModel::put(Buckets& buckets, const Sample& s) const {
    const Key key{index(s.x0, range_0_->first, range_0_->second),
                  kind_ == Kind::prefill ? 0 : index(s.x1, range_1_->first, range_1_->second)};
    for (auto& [other, samples] : buckets) {
        if (other == key) return samples.push_back(s);
    }
    buckets.push_back({key, {s}});
}

void TwinModel::add(const Sample& s) {
    const auto widened = [](const std::optional<std::pair<double, double>>& range, double x) {
        return range ? std::pair{std::min(range->first, x), std::max(range->second, x)} : std::pair{x, x};
    };
    const auto before = std::pair{range_0_, range_1_};
    range_0_ = widened(range_0_, s.x0);
    range_1_ = widened(range_1_, s.x1);
    if (std::pair{range_0_, range_1_} != before) {
        Buckets again;
        for (const auto& [key, samples] : buckets_) {
            for (const Sample& old : samples) put(again, old);
        }
        buckets_ = again;
    }
    put(buckets_, s);
    if (size() <= window_) return;
    auto fullest = buckets_.begin();
    for (auto b = buckets_.begin(); b != buckets_.end(); ++b) {
        if (b->second.size() > fullest->second.size()) fullest = b;
    }
    fullest->second.erase(fullest->second.begin());
    if (fullest->second.empty()) buckets_.erase(fullest);
}

// Least squares with intercept, minimum norm, by a singular value decomposition of the centred features.
std::optional<Line> TwinModel::fit(Edges& edges) const {
    using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    if (!enough() || size() == 0) return std::nullopt;
    const int features = kind_ == Kind::prefill ? 1 : 2;
    Matrix x(size(), features);
    Matrix y(size(), 1);
    Eigen::Index row = 0;
    for (const auto& [key, samples] : buckets_) {
        for (const Sample& s : samples) {
            x(row, 0) = s.x0;
            if (features == 2) x(row, 1) = s.x1;
            y(row++, 0) = s.wall;
        }
    }
    const Matrix x_mean = x.colwise().mean();
    const long double y_mean = y.mean();
    for (Eigen::Index i = 0; i < x.rows(); ++i) x.row(i) -= x_mean;
    y.array() -= y_mean;
    Eigen::JacobiSVD<Matrix> svd(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(static_cast<long double>(std::numeric_limits<double>::epsilon()));
    Matrix b = Matrix::Zero(features, 1);
    if (svd.singularValues()(0) > 0) b = svd.solve(y);
    Line line;
    line.intercept = static_cast<double>(y_mean - (x_mean * b)(0, 0));
    line.slope_0 = static_cast<double>(b(0, 0));
    line.slope_1 = features == 2 ? static_cast<double>(b(1, 0)) : 0.0;
    // A slope that carries next to nothing is zero for one and a little below for the other.
    for (Eigen::Index i = 0; i < features; ++i) {
        const long double carried = std::abs(b(i, 0)) * x.col(i).cwiseAbs().maxCoeff();
        if (b(i, 0) != 0 && carried <= static_cast<long double>(edge) * std::abs(y_mean)) ++edges.seen;
    }
    if (kind_ == Kind::decode) {
        constexpr double tolerance = 1e-6;
        edges.look(line.slope_0, -tolerance);
        if (line.slope_0 < -tolerance) line.slope_0 = 0.0;
    } else if (line.slope_0 < 0.0) {
        return std::nullopt;
    }
    if (line.slope_1 < 0.0) return std::nullopt;
    return line;
}

}  // namespace dynaplan::reference
