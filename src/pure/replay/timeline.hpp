// The entries of a recording in the order in which they are replayed, with times from its first report.
//
// Files are merged by time. Within a file up to two seconds of disorder is sorted; an entry that is later
// than that is counted and taken at the earliest time that is not past yet. Times that lie apart from the
// rest by more than a week are a wrong clock, not a quiet fleet: the stretch with the most entries is kept,
// the others are refused (`time_jump`), since each interval between would have to be run tick by tick.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/event.hpp"
#include "core/units.hpp"
#include "replay/recording.hpp"
#include "replay/trace_roles.hpp"

namespace dynaplan::replay {

inline constexpr Seconds disorder_max{2.0};
inline constexpr Seconds gap_max{7.0 * 86'400.0};

class Timeline {
public:
    struct Item {
        double at = 0.0;          // seconds since the first report
        std::uint32_t index = 0;  // into passes() or lines() of the recording
        std::uint32_t file = 0;
        bool is_pass = true;
    };

    // Engines without a role, or of a role that the mode does not have, are refused here. The recording has
    // to outlive the timeline.
    Timeline(Recording&, const RoleTable&, Mode);

    [[nodiscard]] std::size_t size() const { return items_.size(); }
    // Fills `out`, which is reused: an FPM that follows an FPM allocates nothing once `out` has room for its
    // worker_id.
    void event(std::size_t i, Event& out) const;
    [[nodiscard]] bool is_pass(std::size_t i) const { return items_[i].is_pass; }

    [[nodiscard]] std::uint64_t passes() const { return passes_; }
    [[nodiscard]] std::uint64_t late() const { return late_; }           // beyond disorder_max
    [[nodiscard]] std::int64_t origin_ms() const { return origin_ms_; }  // time 0, milliseconds since 1970
    [[nodiscard]] Seconds span() const;

private:
    void collect(const std::vector<std::optional<Role>>& roles, Mode);
    void order_within_files();

    Recording& recording_;
    std::vector<Role> roles_;  // by engine; of refused engines it is not used
    std::vector<Item> items_;
    std::int64_t origin_ms_ = 0;
    std::uint64_t passes_ = 0;
    std::uint64_t late_ = 0;
};

}  // namespace dynaplan::replay
