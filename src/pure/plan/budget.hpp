// What a GPU budget leaves of wanted replica counts. A negative budget is none; an unknown GPU count turns
// the clamp off. Sources: specification, core semantics 9 and traffic and profiles 2.5; cases A15, A17, A18.
#pragma once

#include <optional>

#include "core/config.hpp"
#include "core/role.hpp"
#include "core/units.hpp"

namespace dynaplan::plan {

struct Budget {
    Gpus limit{-1};
    PerRole<Replicas> minimum;
    PerRole<std::optional<Gpus>> each;  // GPUs per replica
};

// The reference's, for one role: unknown GPU count leaves the count as it is; else it is raised to the
// minimum, and over budget becomes floor(budget / each), or 0 where not even the minimum fits.
[[nodiscard]] Replicas budget_single_reference(const Budget&, Role, Replicas wanted);

// The reference's, for a pair: prefill shrinks in proportion and decode gets what remains, which may be more
// than it wanted; (0, 0) where not even the minima fit.
[[nodiscard]] PerRole<Replicas> budget_pair_reference(const Budget&, PerRole<Replicas> wanted);

// Ours (`budget_clamp: shrink_only`): the same proportions, but no role gets more than it wanted, and none is
// cut below what it serves with to make room for another's growth. Where the minima do not fit, counts stay
// at what serves now.
[[nodiscard]] PerRole<Replicas> budget_pair_shrink_only(const Budget&, PerRole<Replicas> wanted,
                                                        PerRole<Replicas> ready);
[[nodiscard]] Replicas budget_single_shrink_only(const Budget&, Role, Replicas wanted, Replicas ready);

}  // namespace dynaplan::plan
