#include "model/sample_store.hpp"

#include <algorithm>
#include <cmath>

#include "core/assert.hpp"

namespace dynaplan::model {

namespace {

// Robust bounds run between this quantile of the samples and its mirror image, and stand back until there are
// enough samples to have quantiles. They are looked at again after half a window while it fills, then after
// eight windows, and stay where neither end has moved by a quarter of a bucket: finding quantiles and filing
// all samples anew costs as much as some fifty observations.
constexpr double high_quantile = 0.95;
constexpr std::int64_t windows_between_looks = 8;
constexpr double move_least = 0.25;  // buckets

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
    buckets_.resize(static_cast<std::size_t>(settings.features == 1 ? per_axis_ : per_axis_ * per_axis_));
    ranks_.resize(padded(buckets_.size()));
    order_.resize(slots_.size());
    if (settings.axis_bounds == AxisBounds::robust) scratch_.resize(slots_.size());
}

// Every report passes through here. The members of a slot are written one by one: a copy of a whole sample
// would be read wider than it was just written, which processors wait for.
void SampleStore::add(std::int64_t x0, std::int64_t x1, double wall) {
    const std::uint32_t free = free_;
    Slot& slot = slots_[free];
    slot.sample.x[0] = x0;
    slot.sample.x[1] = x1;
    slot.sample.wall = wall;
    slot.arrival = arrivals_++;
    slot.next_in_bucket = none;
    if (bounds_due(x0, x1)) revise_bounds(slot.sample);

    append(free, bucket_of(x0, x1));
    ++size_;
    sums_follow_ = sums_follow_ && ++unasked_ <= settings_.window;
    if (sums_follow_) sums_.add(x0, x1, wall);
    if (wall < wall_min_) wall_min_ = wall;
    if (size_ > settings_.window) {
        retire();
    } else {
        free_ = static_cast<std::uint32_t>(size_);
    }
}

inline bool SampleStore::bounds_due(std::int64_t x0, std::int64_t x1) {
    if (settings_.axis_bounds == AxisBounds::robust && size_ >= robust_samples_min)
        return --until_bounds_ <= 0;
    if (outside(0, x0)) return true;
    return settings_.features == 2 && outside(1, x1);
}

[[gnu::cold]] void SampleStore::revise_bounds(const Sample& s) {
    const bool robust = settings_.axis_bounds == AxisBounds::robust && size_ >= robust_samples_min;
    const bool moved = robust ? fit_bounds_to_samples() : widen(s);
    if (!moved || size_ == 0) return;
    if (settings_.retirement == Retirement::reference) {
        rebuild_by_bucket();
    } else {
        rebuild_by_age();
    }
}

inline void SampleStore::append(std::uint32_t slot, std::uint32_t bucket) {
    Chain& chain = buckets_[bucket];
    std::uint64_t& rank = ranks_[bucket];
    if (rank != 0) [[likely]] {
        rank += one_sample;
        slots_[chain.tail].next_in_bucket = slot;
    } else {
        rank = one_sample - births_++;
        chain.head = slot;
    }
    chain.tail = slot;
}

void SampleStore::append_again(std::uint32_t slot) {
    const Sample& s = slots_[slot].sample;
    slots_[slot].next_in_bucket = none;
    append(slot, bucket_of(s.x[0], s.x[1]));
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
    until_bounds_ =
        std::max(robust_samples_min,
                 size_ < settings_.window ? settings_.window / 2 : windows_between_looks * settings_.window);
    bool moved = false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(settings_.features); ++axis) {
        std::size_t n = 0;
        each([&](const Slot& s) { scratch_[n++] = static_cast<double>(s.sample.x[axis]); });
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
        const double least = move_least * (high_[axis] - low_[axis]) / static_cast<double>(per_axis_);
        if (std::abs(new_low - low_[axis]) <= least && std::abs(new_high - high_[axis]) <= least) continue;
        moved = true;
        low_[axis] = new_low;
        high_[axis] = new_high;
    }
    return moved;
}

std::vector<std::uint32_t> SampleStore::buckets_by_age() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t b = 0; b < buckets_.size(); ++b) {
        if (ranks_[b] != 0) order.push_back(b);
    }
    const auto birth = [this](std::uint32_t b) { return (0 - ranks_[b]) % one_sample; };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return birth(a) < birth(b); });
    return order;
}

// The reference walks the old buckets in order of creation and appends to new ones, so that "oldest" stops
// being chronological (Q13).
void SampleStore::rebuild_by_bucket() {
    std::size_t n = 0;
    for (std::int64_t left = size_; left > 0;) {
        // Of the smallest birth: the largest rank once the counts are left out of it.
        std::size_t next = 0;
        std::uint64_t best = 0;
        for (std::size_t b = 0; b < ranks_.size(); ++b) {
            const std::uint64_t earliness = ranks_[b] == 0 ? 0 : one_sample + (ranks_[b] - 1) % one_sample;
            if (earliness > best) {
                best = earliness;
                next = b;
            }
        }
        for (std::uint32_t i = buckets_[next].head; i != none; i = slots_[i].next_in_bucket) {
            order_[n++] = i;
            --left;
        }
        ranks_[next] = 0;
    }
    for (std::size_t i = 0; i < n; ++i) append_again(order_[i]);
}

void SampleStore::rebuild_by_age() {
    std::size_t n = 0;
    for (std::uint32_t i = 0; i <= size_; ++i) {
        if (i != free_) order_[n++] = i;
    }
    const auto end = order_.begin() + static_cast<std::ptrdiff_t>(n);
    std::sort(order_.begin(), end,
              [this](std::uint32_t a, std::uint32_t b) { return slots_[a].arrival < slots_[b].arrival; });
    std::fill(ranks_.begin(), ranks_.end(), 0);
    for (std::size_t i = 0; i < n; ++i) append_again(order_[i]);
}

// Which bucket it is cannot be foretold, and a branch on it would be taken wrongly most of the time. As many
// as a stride race side by side, so that one comparison need not wait for the other.
inline std::size_t SampleStore::fullest() const {
    struct Leader {
        std::size_t at = 0;
        std::uint64_t rank = 0;
        void meet(std::size_t other_at, std::uint64_t other) {
            at = other > rank ? other_at : at;
            rank = other > rank ? other : rank;
        }
    };
    const std::uint64_t* const all = ranks_.data();
    const std::size_t n = ranks_.size();
    Leader first;
    Leader second;
    Leader third;
    Leader fourth;
    for (std::size_t b = 0; b < n; b += stride) {
        first.meet(b, all[b]);
        second.meet(b, all[b + 1]);
        third.meet(b, all[b + 2]);
        fourth.meet(b, all[b + 3]);
    }
    first.meet(second.at + 1, second.rank);
    third.meet(fourth.at + 1, fourth.rank);
    first.meet(third.at + 2, third.rank);
    return first.at;
}

inline void SampleStore::retire() {
    const std::size_t b = fullest();
    Chain& chain = buckets_[b];
    const std::uint32_t slot = chain.head;
    const Slot& gone = slots_[slot];
    chain.head = gone.next_in_bucket;
    ranks_[b] = chain.head == none ? 0 : ranks_[b] - one_sample;
    free_ = slot;
    --size_;
    if (sums_follow_) sums_.remove(gone.sample.x[0], gone.sample.x[1], gone.sample.wall);
    if (gone.sample.wall <= wall_min_) wall_min_follows_ = false;
}

// What a checkpoint holds must fit the settings that it is read under.
bool SampleStore::consistent() const {
    const auto window = static_cast<std::size_t>(settings_.window);
    const std::size_t buckets = settings_.features == 1 ? static_cast<std::size_t>(per_axis_)
                                                        : static_cast<std::size_t>(per_axis_ * per_axis_);
    if (slots_.size() != window + 1 || buckets_.size() != buckets || ranks_.size() != padded(buckets))
        return false;
    if (size_ < 0 || static_cast<std::size_t>(size_) > window || free_ > static_cast<std::size_t>(size_))
        return false;
    // Every sample hangs in exactly one chain, and a chain ends at its tail.
    std::vector<bool> seen(slots_.size());
    std::int64_t linked = 0;
    for (std::size_t b = 0; b < buckets; ++b) {
        if (ranks_[b] == 0) continue;
        std::uint32_t last = none;
        for (std::uint32_t i = buckets_[b].head; i != none; i = slots_[i].next_in_bucket) {
            if (i > static_cast<std::size_t>(size_) || i == free_ || seen[i]) return false;
            seen[i] = true;
            last = i;
            ++linked;
        }
        if (last == none || last != buckets_[b].tail) return false;
    }
    return linked == size_;
}

double SampleStore::wall_min() const {
    if (!wall_min_follows_) {
        wall_min_ = std::numeric_limits<double>::infinity();
        each([this](const Slot& s) { wall_min_ = std::min(wall_min_, s.sample.wall); });
        wall_min_follows_ = true;
    }
    return wall_min_;
}

void SampleStore::sum_afresh() const {
    sums_ = RunningSums{};
    each([this](const Slot& s) { sums_.add(s.sample.x[0], s.sample.x[1], s.sample.wall); });
}

Moments SampleStore::moments() const {
    if (!sums_follow_) sum_afresh();
    sums_follow_ = true;
    unasked_ = 0;
    if (sums_.usable()) return sums_.moments();
    // Some sample is outside the limits of the exact sums: two passes about the means, in extended precision.
    Moments m;
    m.exact = false;
    m.n = size_;
    each([&m](const Slot& slot) {
        const Sample& s = slot.sample;
        m.finite = m.finite && std::isfinite(s.wall);
        m.sum_0 += static_cast<long double>(s.x[0]);
        m.sum_1 += static_cast<long double>(s.x[1]);
        m.sum_wall += s.wall;
    });
    if (!m.finite || m.n == 0) return m;
    const auto n = static_cast<long double>(m.n);
    each([&m, n](const Slot& slot) {
        const Sample& s = slot.sample;
        const long double d0 = static_cast<long double>(s.x[0]) - m.sum_0 / n;
        const long double d1 = static_cast<long double>(s.x[1]) - m.sum_1 / n;
        const long double dy = s.wall - m.sum_wall / n;
        m.spread_0 += n * d0 * d0;
        m.spread_1 += n * d1 * d1;
        m.cross += n * d0 * d1;
        m.with_wall_0 += n * d0 * dy;
        m.with_wall_1 += n * d1 * dy;
    });
    return m;
}

}  // namespace dynaplan::model
