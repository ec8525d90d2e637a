#include "model/sample_store.hpp"

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"

namespace dynaplan::model {

namespace {

// Robust bounds run between this quantile of the samples and its mirror image, and stand back until there are
// enough samples to have quantiles. They are looked at again after half a window while it fills, then after
// two windows: finding quantiles and filing all samples anew costs as much as some twenty observations.
constexpr double high_quantile = 0.95;
constexpr std::int64_t robust_samples_min = 8;

std::int64_t root_of(std::int64_t square) {
    auto r = static_cast<std::int64_t>(std::sqrt(static_cast<double>(square)));
    while (r * r > square) --r;
    while ((r + 1) * (r + 1) <= square) ++r;
    return r;
}

}  // namespace

SampleStore::SampleStore(const StoreSettings& settings) : settings_{settings} {
    DYNAPLAN_ASSERT(settings.features == 1 || settings.features == 2);
    DYNAPLAN_ASSERT(settings.window >= 1 && settings.buckets >= 1);
    per_axis_ = settings.features == 1 ? settings.buckets : root_of(settings.buckets);
    low_.fill(std::numeric_limits<double>::infinity());
    high_.fill(-std::numeric_limits<double>::infinity());
    slots_.resize(static_cast<std::size_t>(settings.window) + 1);
    for (std::uint32_t i = 0; i < slots_.size(); ++i) slots_[i].next_in_bucket = i + 1;
    buckets_.resize(static_cast<std::size_t>(settings.features == 1 ? per_axis_ : per_axis_ * per_axis_));
    if (settings.axis_bounds == AxisBounds::robust) scratch_.resize(slots_.size());
}

// Every report passes through here: one function without calls in it.
[[gnu::flatten]] void SampleStore::add(std::int64_t x0, std::int64_t x1, double wall) {
    const std::uint32_t slot = free_;
    free_ = slots_[slot].next_in_bucket;
    slots_[slot].sample = Sample{{x0, x1}, wall};

    const bool robust = settings_.axis_bounds == AxisBounds::robust && size_ >= robust_samples_min;
    bool moved = false;
    if (robust) {
        const std::int64_t period = size_ < settings_.window ? settings_.window / 2 : 2 * settings_.window;
        if (++added_since_bounds_ >= std::max(robust_samples_min, period)) moved = fit_bounds_to_samples();
    } else {
        moved = widen(slots_[slot].sample);
        if (settings_.axis_bounds == AxisBounds::robust && size_ + 1 == robust_samples_min) {
            added_since_bounds_ = std::max(robust_samples_min, 2 * settings_.window);  // the next one looks
        }
    }
    if (moved && size_ > 0) {
        if (settings_.retirement == Retirement::reference) {
            rebuild_by_bucket();
        } else {
            rebuild_by_age();
        }
    }

    slots_[slot].older = newest_;
    slots_[slot].newer = none;
    (newest_ == none ? oldest_ : slots_[newest_].newer) = slot;
    newest_ = slot;
    append(slot);
    ++size_;
    sums_.add(x0, x1, wall);
    if (wall < wall_min_) wall_min_ = wall;
    if (size_ > settings_.window) retire();
}

std::uint32_t SampleStore::bucket_of(const Sample& s) const {
    std::int64_t key = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(settings_.features); ++axis) {
        std::int64_t index = 0;
        if (high_[axis] > low_[axis]) {
            const double part = (static_cast<double>(s.x[axis]) - low_[axis]) / (high_[axis] - low_[axis]) *
                                static_cast<double>(per_axis_);
            index = std::clamp(static_cast<std::int64_t>(part), std::int64_t{0}, per_axis_ - 1);
        }
        key = key * per_axis_ + index;
    }
    return static_cast<std::uint32_t>(key);
}

void SampleStore::append(std::uint32_t slot) {
    slots_[slot].next_in_bucket = none;
    Bucket& bucket = buckets_[bucket_of(slots_[slot].sample)];
    if (bucket.count == 0) {
        bucket.birth = births_++;
        bucket.head = slot;
    } else {
        slots_[bucket.tail].next_in_bucket = slot;
    }
    bucket.tail = slot;
    ++bucket.count;
}

bool SampleStore::widen(const Sample& s) {
    bool moved = false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(settings_.features); ++axis) {
        const auto x = static_cast<double>(s.x[axis]);
        if (x < low_[axis]) {
            low_[axis] = x;
            moved = true;
        }
        if (x > high_[axis]) {
            high_[axis] = x;
            moved = true;
        }
    }
    return moved;
}

bool SampleStore::fit_bounds_to_samples() {
    added_since_bounds_ = 0;
    bool moved = false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(settings_.features); ++axis) {
        std::size_t n = 0;
        for (std::uint32_t i = oldest_; i != none; i = slots_[i].newer) {
            scratch_[n++] = static_cast<double>(slots_[i].sample.x[axis]);
        }
        const auto first = scratch_.begin();
        const auto end = first + static_cast<std::ptrdiff_t>(n);
        // Rounded inwards: from eight samples on, one outlier at either end stays out.
        const auto last = static_cast<std::ptrdiff_t>(n) - 1;
        const auto inner = static_cast<std::ptrdiff_t>(high_quantile * static_cast<double>(last));
        const auto low = first + (last - inner);
        const auto high = first + inner;
        std::nth_element(first, low, end);
        double new_low = *low;
        std::nth_element(first, high, end);
        double new_high = *high;
        if (!(new_high > new_low)) {  // nearly all are alike: the few that are not are what buckets are for
            const auto [least, most] = std::minmax_element(first, end);
            new_low = *least;
            new_high = *most;
        }
        moved = moved || new_low != low_[axis] || new_high != high_[axis];
        low_[axis] = new_low;
        high_[axis] = new_high;
    }
    return moved;
}

std::vector<std::uint32_t> SampleStore::buckets_by_age() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t b = 0; b < buckets_.size(); ++b) {
        if (buckets_[b].count > 0) order.push_back(b);
    }
    std::sort(order.begin(), order.end(),
              [this](std::uint32_t a, std::uint32_t b) { return buckets_[a].birth < buckets_[b].birth; });
    return order;
}

// The reference walks the old buckets in order of creation and appends to new ones, so that "oldest" stops
// being chronological (Q13). The old buckets are chained first: their links serve as the list to walk, and
// nothing is allocated.
void SampleStore::rebuild_by_bucket() {
    std::uint32_t head = none;
    std::uint32_t tail = none;
    for (std::int64_t left = size_; left > 0;) {
        std::size_t next = buckets_.size();
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            if (buckets_[b].count > 0 &&
                (next == buckets_.size() || buckets_[b].birth < buckets_[next].birth))
                next = b;
        }
        Bucket& bucket = buckets_[next];
        (head == none ? head : slots_[tail].next_in_bucket) = bucket.head;
        tail = bucket.tail;
        left -= bucket.count;
        bucket = Bucket{};
    }
    for (std::uint32_t i = head; i != none;) {
        const std::uint32_t following = slots_[i].next_in_bucket;
        append(i);
        i = following;
    }
}

void SampleStore::rebuild_by_age() {
    for (Bucket& bucket : buckets_) bucket = Bucket{};
    for (std::uint32_t i = oldest_; i != none; i = slots_[i].newer) append(i);
}

void SampleStore::retire() {
    // The largest count, and among equals the earliest birth: both in one number, since which bucket it is
    // cannot be foretold and a branch on it would be taken wrongly most of the time. Even and odd buckets
    // race side by side, so that one comparison need not wait for the other. Births stay far below 2^48.
    constexpr int birth_bits = 48;
    struct Leader {
        std::size_t bucket = 0;
        std::uint64_t rank = 0;
        void meet(std::size_t b, std::uint64_t other) {
            bucket = other > rank ? b : bucket;
            rank = other > rank ? other : rank;
        }
    };
    const auto rank_of = [](const Bucket& b) {
        return (static_cast<std::uint64_t>(b.count) << birth_bits) - b.birth;
    };
    const Bucket* const all = buckets_.data();
    const std::size_t n = buckets_.size();
    Leader even;
    Leader odd;
    for (std::size_t b = 0; b + 1 < n; b += 2) {
        even.meet(b, rank_of(all[b]));
        odd.meet(b + 1, rank_of(all[b + 1]));
    }
    if (n % 2 == 1) even.meet(n - 1, rank_of(all[n - 1]));
    even.meet(odd.bucket, odd.rank);
    const std::size_t fullest = even.bucket;
    Bucket& bucket = buckets_[fullest];
    const std::uint32_t slot = bucket.head;
    Slot& gone = slots_[slot];
    bucket.head = gone.next_in_bucket;
    if (--bucket.count == 0) bucket = Bucket{};
    (gone.older == none ? oldest_ : slots_[gone.older].newer) = gone.newer;
    (gone.newer == none ? newest_ : slots_[gone.newer].older) = gone.older;
    gone.next_in_bucket = free_;
    free_ = slot;
    --size_;
    sums_.remove(gone.sample.x[0], gone.sample.x[1], gone.sample.wall);
    if (gone.sample.wall <= wall_min_) wall_min_stale_ = true;
}

double SampleStore::wall_min() const {
    if (wall_min_stale_) {
        wall_min_ = std::numeric_limits<double>::infinity();
        for (std::uint32_t i = oldest_; i != none; i = slots_[i].newer) {
            wall_min_ = std::min(wall_min_, slots_[i].sample.wall);
        }
        wall_min_stale_ = false;
    }
    return wall_min_;
}

Moments SampleStore::moments() const {
    if (sums_.usable()) return sums_.moments();
    // Some sample is outside the limits of the exact sums: two passes about the means, in extended precision.
    Moments m;
    m.exact = false;
    m.n = size_;
    for (std::uint32_t i = oldest_; i != none; i = slots_[i].newer) {
        const Sample& s = slots_[i].sample;
        m.finite = m.finite && std::isfinite(s.wall);
        m.sum_0 += static_cast<long double>(s.x[0]);
        m.sum_1 += static_cast<long double>(s.x[1]);
        m.sum_wall += s.wall;
    }
    if (!m.finite || m.n == 0) return m;
    const auto n = static_cast<long double>(m.n);
    for (std::uint32_t i = oldest_; i != none; i = slots_[i].newer) {
        const Sample& s = slots_[i].sample;
        const long double d0 = static_cast<long double>(s.x[0]) - m.sum_0 / n;
        const long double d1 = static_cast<long double>(s.x[1]) - m.sum_1 / n;
        const long double dy = s.wall - m.sum_wall / n;
        m.spread_0 += n * d0 * d0;
        m.spread_1 += n * d1 * d1;
        m.cross += n * d0 * d1;
        m.with_wall_0 += n * d0 * dy;
        m.with_wall_1 += n * d1 * dy;
    }
    return m;
}

}  // namespace dynaplan::model
