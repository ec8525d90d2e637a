// Typed optional quantities as the bare optional numbers that JSON holds; the unit is in the key's name.
#pragma once

#include <chrono>
#include <optional>

#include "core/units.hpp"

namespace dynaplan::wire {

template <class Tag, class Rep>
std::optional<Rep> count_of(const std::optional<Quantity<Tag, Rep>>& q) {
    return q ? std::optional{q->count()} : std::nullopt;
}

inline std::optional<double> count_of(const std::optional<Millis>& d) {
    return d ? std::optional{d->count()} : std::nullopt;
}

}  // namespace dynaplan::wire
