#include "plan/budget.hpp"

#include <algorithm>
#include <cmath>

namespace dynaplan::plan {

namespace {

using Wide = __int128;  // replicas * GPUs may pass 64 bits before the budget cuts them

Wide wide(Replicas n, Gpus each) { return static_cast<Wide>(n.count()) * each.count(); }

Replicas narrow(Wide n) {
    constexpr Wide most = INT64_MAX;
    return Replicas{static_cast<std::int64_t>(std::min(n, most))};
}

// floor(n / each); without GPUs per replica there is nothing to run out of.
Wide floor_quotient(Wide n, Gpus each) {
    if (each.count() == 0) return INT64_MAX;
    const Wide q = n / each.count();
    return n % each.count() != 0 && (n < 0) != (each.count() < 0) ? q - 1 : q;
}

bool unlimited(const Budget& b) { return b.limit < Gpus{0}; }

// Proportional shares, before any bound from above by what was wanted.
PerRole<Replicas> shares(const Budget& b, PerRole<Replicas> wanted) {
    const Gpus g_p = *b.each.prefill;
    const Gpus g_d = *b.each.decode;
    const Wide total = wide(wanted.prefill, g_p) + wide(wanted.decode, g_d);
    const double share = static_cast<double>(b.limit.count()) / static_cast<double>(total);
    const Wide most_prefill = floor_quotient(b.limit.count() - wide(b.minimum.decode, g_d), g_p);
    const auto scaled = static_cast<Wide>(std::floor(static_cast<double>(wanted.prefill.count()) * share));
    const Wide prefill = std::max<Wide>(b.minimum.prefill.count(), std::min(most_prefill, scaled));
    const Wide left = b.limit.count() - prefill * g_p.count();
    const Wide decode = std::max<Wide>(b.minimum.decode.count(), floor_quotient(left, g_d));
    return {narrow(prefill), narrow(decode)};
}

}  // namespace

Replicas budget_single_reference(const Budget& b, Role role, Replicas wanted) {
    const std::optional<Gpus>& each = b.each[role];
    if (!each) return wanted;
    const Replicas minimum = b.minimum[role];
    const Replicas x = std::max(wanted, minimum);
    if (unlimited(b) || wide(x, *each) <= b.limit.count()) return x;
    if (b.limit.count() < wide(minimum, *each)) return Replicas{0};
    return std::max(minimum, narrow(floor_quotient(b.limit.count(), *each)));
}

PerRole<Replicas> budget_pair_reference(const Budget& b, PerRole<Replicas> wanted) {
    if (!b.each.prefill || !b.each.decode || unlimited(b)) return wanted;
    const Wide total = wide(wanted.prefill, *b.each.prefill) + wide(wanted.decode, *b.each.decode);
    if (total <= b.limit.count()) return wanted;
    const Wide need = wide(b.minimum.prefill, *b.each.prefill) + wide(b.minimum.decode, *b.each.decode);
    if (b.limit.count() < need) return {Replicas{0}, Replicas{0}};
    return shares(b, wanted);
}

PerRole<Replicas> budget_pair_shrink_only(const Budget& b, PerRole<Replicas> wanted,
                                          PerRole<Replicas> ready) {
    if (!b.each.prefill || !b.each.decode || unlimited(b)) return wanted;
    const Gpus g_p = *b.each.prefill;
    const Gpus g_d = *b.each.decode;
    const auto fits = [&](Wide p, Wide d) { return p * g_p.count() + d * g_d.count() <= b.limit.count(); };
    if (fits(wanted.prefill.count(), wanted.decode.count())) return wanted;

    const PerRole<Replicas> kept{std::min(wanted.prefill, ready.prefill),
                                 std::min(wanted.decode, ready.decode)};
    if (b.limit.count() < wide(b.minimum.prefill, g_p) + wide(b.minimum.decode, g_d)) return kept;
    const PerRole<Replicas> share = shares(b, wanted);
    PerRole<Replicas> result{std::min(share.prefill, wanted.prefill), std::min(share.decode, wanted.decode)};
    if (!fits(kept.prefill.count(), kept.decode.count()))
        return result;  // what serves is over budget already
    // Growth pays first: a role cut below what it serves with gets that back from the other's growth.
    if (result.prefill < kept.prefill) {
        result.prefill = kept.prefill;
        result.decode =
            std::min(result.decode, narrow(floor_quotient(b.limit.count() - wide(kept.prefill, g_p), g_d)));
    } else if (result.decode < kept.decode) {
        result.decode = kept.decode;
        result.prefill =
            std::min(result.prefill, narrow(floor_quotient(b.limit.count() - wide(kept.decode, g_d), g_p)));
    }
    return result;
}

Replicas budget_single_shrink_only(const Budget& b, Role role, Replicas wanted, Replicas ready) {
    const std::optional<Gpus>& each = b.each[role];
    if (!each || unlimited(b) || wide(wanted, *each) <= b.limit.count()) return wanted;
    if (b.limit.count() < wide(b.minimum[role], *each)) return std::min(wanted, ready);
    return std::max(b.minimum[role], narrow(floor_quotient(b.limit.count(), *each)));
}

}  // namespace dynaplan::plan
