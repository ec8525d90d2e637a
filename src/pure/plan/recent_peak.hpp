// The largest replica count that was named within a while: what a shrinking must not go below, since the next
// forecasts are as likely as the last ones to name it again.
//
// A count that a later one reaches or passes is forgotten at once, so that what is kept falls strictly from
// the oldest to the newest: as many entries as there are different counts, at most `most_kept`.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace dynaplan::plan {

class RecentPeak {
public:
    // Times never go back.
    void add(TimePoint at, Replicas count) {
        while (!kept_.empty() && kept_.back().second <= count) kept_.pop_back();
        if (kept_.size() == most_kept) kept_.pop_back();  // the newest and smallest
        kept_.emplace_back(at, count);
    }
    void forget_before(TimePoint oldest) {
        while (!kept_.empty() && kept_.front().first < oldest) kept_.erase(kept_.begin());
    }
    // Of those that are not older.
    [[nodiscard]] std::optional<Replicas> largest(TimePoint oldest) const {
        for (const auto& [at, count] : kept_) {
            if (at >= oldest) return count;
        }
        return std::nullopt;
    }

    template <class Archive>
    void archive(Archive& a) {
        a(kept_);
    }

private:
    static constexpr std::size_t most_kept = 64;
    std::vector<std::pair<TimePoint, Replicas>> kept_;
};

}  // namespace dynaplan::plan
