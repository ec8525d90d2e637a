// Names of engines. A worker is a process; an engine is one data-parallel rank of it, and what reports.
#pragma once

#include <cstdint>
#include <string>

namespace dynaplan {

enum class EngineIndex : std::uint32_t {};  // dense number of an engine within its role
enum class WorkerIndex : std::uint32_t {};  // dense number of an interned worker_id

constexpr std::uint32_t number_of(EngineIndex i) { return static_cast<std::uint32_t>(i); }
constexpr std::uint32_t number_of(WorkerIndex i) { return static_cast<std::uint32_t>(i); }

struct EngineKey {
    std::string worker_id;
    std::int64_t dp_rank = 0;
    bool operator==(const EngineKey&) const = default;
    template <class Archive>
    void archive(Archive& a) {
        a(worker_id, dp_rank);
    }
};

}  // namespace dynaplan
