// The samples that a regression stands on: a bounded window, spread over the range of operation by buckets.
//
// When the window overflows, the oldest sample of the fullest bucket retires, so that a rare operating point
// is not washed out by the common one (specification, core semantics 4.3). An observation costs O(1)
// amortised and allocates nothing; the store allocates once, at construction.
//
// `retirement` and `axis_bounds` are policies: what "oldest" means after a change of bounds, and whether one
// outlier may stretch the axes for good.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/policy.hpp"
#include "model/moments.hpp"

namespace dynaplan::model {

struct StoreSettings {
    int features = 1;           // 1 or 2
    std::int64_t window = 64;   // samples
    std::int64_t buckets = 16;  // in all: per axis it is the number itself (1 feature) or its root (2)
    Retirement retirement = Retirement::oldest;
    AxisBounds axis_bounds = AxisBounds::robust;
};

class SampleStore {
public:
    struct Sample {
        std::array<std::int64_t, 2> x{};  // tokens or requests
        double wall = 0.0;                // seconds
    };

    explicit SampleStore(const StoreSettings&);

    void add(std::int64_t x0, std::int64_t x1, double wall);

    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] Moments moments() const;
    // Smallest wall time among the samples; +infinity without one.
    [[nodiscard]] double wall_min() const;

    // For tests and explanations: bounds per axis, and f(bucket key per axis, sample) over the buckets in the
    // order in which they came into being, inside a bucket from its head.
    [[nodiscard]] double axis_min(int axis) const { return low_[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] double axis_max(int axis) const { return high_[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] std::int64_t buckets_per_axis() const { return per_axis_; }
    template <class F>
    void each_by_bucket(F&& f) const {
        for (const std::uint32_t b : buckets_by_age()) {
            for (std::uint32_t i = buckets_[b].head; i != none; i = slots_[i].next_in_bucket)
                f(b, slots_[i].sample);
        }
    }

    template <class Archive>
    void archive(Archive& a) {
        a(size_, births_, added_since_bounds_, low_, high_, slots_, buckets_, free_, oldest_, newest_, sums_,
          wall_min_, wall_min_stale_);
    }

private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Slot {
        Sample sample;
        std::uint32_t next_in_bucket = none;
        std::uint32_t older = none;  // by arrival
        std::uint32_t newer = none;
        template <class Archive>
        void archive(Archive& a) {
            a(sample.x, sample.wall, next_in_bucket, older, newer);
        }
    };
    struct Bucket {
        std::uint32_t head = none;
        std::uint32_t tail = none;
        std::int64_t count = 0;
        std::uint64_t birth = 0;  // when it last came into being
        template <class Archive>
        void archive(Archive& a) {
            a(head, tail, count, birth);
        }
    };

    [[nodiscard]] std::uint32_t bucket_of(const Sample&) const;
    [[nodiscard]] std::vector<std::uint32_t> buckets_by_age() const;
    void append(std::uint32_t slot);
    bool widen(const Sample&);
    bool fit_bounds_to_samples();
    void rebuild_by_bucket();
    void rebuild_by_age();
    void retire();

    StoreSettings settings_;
    std::int64_t per_axis_ = 1;
    std::int64_t size_ = 0;
    std::uint64_t births_ = 0;
    std::int64_t added_since_bounds_ = 0;
    std::array<double, 2> low_{};
    std::array<double, 2> high_{};
    std::vector<Slot> slots_;  // window + 1: the new sample comes in before one retires
    std::vector<Bucket> buckets_;
    std::vector<double> scratch_;  // of the robust bounds
    std::uint32_t free_ = 0;
    std::uint32_t oldest_ = none;
    std::uint32_t newest_ = none;
    RunningSums sums_;
    mutable double wall_min_ = std::numeric_limits<double>::infinity();
    mutable bool wall_min_stale_ = false;
};

}  // namespace dynaplan::model
