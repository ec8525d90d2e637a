// The two roles that are scaled, and the modes that say which of them a deployment has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dynaplan {

enum class Role : std::uint8_t { prefill, decode };  // an aggregated engine has the role decode
inline constexpr std::array<Role, 2> all_roles{Role::prefill, Role::decode};

enum class Mode : std::uint8_t { disagg, prefill, decode, agg };
enum class OptimizationTarget : std::uint8_t { throughput, latency, load, sla };

constexpr bool has_prefill(Mode m) { return m == Mode::disagg || m == Mode::prefill; }
constexpr bool has_decode(Mode m) { return m != Mode::prefill; }
constexpr bool has_role(Mode m, Role r) { return r == Role::prefill ? has_prefill(m) : has_decode(m); }

// One T for each role.
template <class T>
struct PerRole {
    T prefill{};
    T decode{};
    constexpr T& operator[](Role r) { return r == Role::prefill ? prefill : decode; }
    constexpr const T& operator[](Role r) const { return r == Role::prefill ? prefill : decode; }
    bool operator==(const PerRole&) const = default;
    template <class Archive>
    void archive(Archive& a) {
        a(prefill, decode);
    }
};

std::string_view to_string(Role);
std::string_view to_string(Mode);
std::string_view to_string(OptimizationTarget);
std::optional<Role> role_from(std::string_view);  // "agg" is accepted for decode

}  // namespace dynaplan
