// The samples that a regression stands on: a bounded window, spread over the range of operation by buckets.
//
// When the window overflows, the oldest sample of the fullest bucket retires, so that a rare operating point
// is not washed out by the common one (specification, core semantics 4.3). An observation costs O(1)
// amortised and allocates nothing; the store allocates once, at construction.
//
// The sums behind a regression follow every sample while somebody asks for them. When a whole window has come
// and gone unasked they are left behind, and the next question sums the window afresh: the sums are exact, so
// both ways give the same bits.
//
// `retirement` and `axis_bounds` are policies: what "oldest" means after a change of bounds, and whether one
// outlier may stretch the axes for good.
#pragma once

#include <algorithm>
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

    // Sums and the smallest wall time follow from the samples.
    template <class Archive>
    void archive(Archive& a) {
        a(size_, births_, arrivals_, until_bounds_, low_, high_, slots_, buckets_, ranks_, free_);
        if constexpr (Archive::reading) {
            if (!a.ok() || !consistent()) return a.fail();
            sums_follow_ = false;
            wall_min_follows_ = false;
        }
    }

private:
    static constexpr std::int64_t robust_samples_min = 8;  // before that the bounds are those of all samples
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    struct Slot {
        Sample sample;
        std::uint64_t arrival = 0;
        std::uint32_t next_in_bucket = none;
        template <class Archive>
        void archive(Archive& a) {
            a(sample.x, sample.wall, arrival, next_in_bucket);
        }
    };
    struct Chain {  // the samples of a bucket, by slot
        std::uint32_t head = none;
        std::uint32_t tail = none;
        template <class Archive>
        void archive(Archive& a) {
            a(head, tail);
        }
    };
    // Rank of a bucket: its number of samples, and below that how early it last came into being, so that the
    // bucket to take from has the largest rank. 0 when empty. Births stay far below 2^48.
    static constexpr int birth_bits = 48;
    static constexpr std::uint64_t one_sample = std::uint64_t{1} << birth_bits;
    static constexpr std::size_t stride = 4;
    static std::size_t padded(std::size_t buckets) { return (buckets + stride - 1) / stride * stride; }

    template <class F>
    void each(F&& f) const {  // f(slot); until the window is full, the slots behind `free_` are empty
        for (std::uint32_t i = 0; i <= size_; ++i) {
            if (i != free_) f(slots_[i]);
        }
    }
    [[nodiscard]] std::vector<std::uint32_t> buckets_by_age() const;
    [[nodiscard]] bool outside(std::size_t axis, std::int64_t x) const {
        const auto value = static_cast<double>(x);
        return !(value >= low_[axis] && value <= high_[axis]);
    }
    [[nodiscard]] std::int64_t index_on(std::size_t axis, std::int64_t x) const {
        const double range = high_[axis] - low_[axis];
        if (!(range > 0.0)) return 0;
        const double part = (static_cast<double>(x) - low_[axis]) / range * static_cast<double>(per_axis_);
        return std::clamp(static_cast<std::int64_t>(part), std::int64_t{0}, per_axis_ - 1);
    }
    [[nodiscard]] std::uint32_t bucket_of(std::int64_t x0, std::int64_t x1) const {
        std::int64_t key = index_on(0, x0);
        if (settings_.features == 2) key = key * per_axis_ + index_on(1, x1);
        return static_cast<std::uint32_t>(key);
    }
    [[nodiscard]] bool bounds_due(std::int64_t x0, std::int64_t x1);
    void append(std::uint32_t slot, std::uint32_t bucket);
    void append_again(std::uint32_t slot);
    void revise_bounds(const Sample&);
    bool widen(const Sample&);
    bool fit_bounds_to_samples();
    void rebuild_by_bucket();
    void rebuild_by_age();
    void retire();
    [[nodiscard]] std::size_t fullest() const;
    [[nodiscard]] bool consistent() const;
    void sum_afresh() const;

    StoreSettings settings_;
    std::int64_t per_axis_ = 1;
    std::int64_t size_ = 0;
    std::uint64_t births_ = 0;
    std::uint64_t arrivals_ = 0;
    std::int64_t until_bounds_ = 1;  // samples, until robust bounds are looked at again
    std::array<double, 2> low_{};
    std::array<double, 2> high_{};
    std::vector<Slot> slots_;  // window + 1: the new sample comes in before one retires
    std::vector<Chain> buckets_;
    // Of the buckets, apart from them, since all are compared for every sample; padded to whole strides.
    std::vector<std::uint64_t> ranks_;
    std::vector<double> scratch_;       // of the robust bounds
    std::vector<std::uint32_t> order_;  // of a rebuild
    std::uint32_t free_ = 0;
    mutable RunningSums sums_;
    mutable bool sums_follow_ = true;
    mutable std::int64_t unasked_ = 0;  // samples since the sums were last asked for
    mutable double wall_min_ = std::numeric_limits<double>::infinity();
    mutable bool wall_min_follows_ = true;
};

}  // namespace dynaplan::model
