#include "decision/wanted_counts.hpp"

#include <limits>
#include <string>

namespace dynaplan::decision {

namespace {

constexpr Replicas none{0};
constexpr Replicas one{1};
constexpr Replicas most{std::numeric_limits<std::int64_t>::max()};

WantedCounts only(Role role, Replicas count) {
    WantedCounts out;
    (role == Role::prefill ? out.prefill : out.decode) = count;
    return out;
}

}  // namespace

Result<WantedCounts> wanted_counts(std::optional<std::int64_t> prefill, std::optional<std::int64_t> decode) {
    WantedCounts out;
    for (const Role role : all_roles) {
        const auto& given = role == Role::prefill ? prefill : decode;
        if (!given) continue;
        if (*given < 0) {
            return failure("wanted " + std::string{to_string(role)} + " replicas: " + std::to_string(*given) +
                           " is negative; give 0 or more");
        }
        (role == Role::prefill ? out.prefill : out.decode) = Replicas{*given};
    }
    return out;
}

WantedCounts one_more(Role role, std::optional<Replicas> remembered, Replicas discovered) {
    const Replicas base = remembered.value_or(discovered);
    return only(role, base < most ? base + one : most);
}

WantedCounts one_less(Role role, std::optional<Replicas> remembered, Replicas discovered) {
    const Replicas base = remembered.value_or(discovered);
    return only(role, base > none ? base - one : none);
}

}  // namespace dynaplan::decision
