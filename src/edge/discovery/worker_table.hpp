// The workers that are alive, by the decimal text of their id, and the events that tell the core of them: one
// EngineJoined for each data-parallel rank that appears or whose capabilities change, one EngineLeft for each
// that goes. A worker that changes its role leaves under the old one first.
//
// Every discovery backend ends here. The loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/capabilities.hpp"
#include "core/event.hpp"
#include "core/role.hpp"
#include "port/event_sink.hpp"
#include "port/workers.hpp"

namespace dynaplan::discovery {

struct Worker {
    Role role{};
    std::int64_t rank_first = 0;
    std::int64_t rank_count = 1;
    Capabilities capabilities;
    bool operator==(const Worker&) const = default;
};

class WorkerTable final : public port::WorkerDirectory {
public:
    // All ranks of all workers. Each appearance costs the core a walk over its engines, so the bound keeps a
    // listing below a second; the largest deployments known have a few thousand.
    static constexpr std::int64_t engines_most = 16'384;

    explicit WorkerTable(port::EventSink& sink) : sink_{sink} {}

    // The worker is there, like this. The same again changes nothing. False, and nothing changes, where the
    // ranks would be too many.
    [[nodiscard]] bool set(std::string_view worker_id, const Worker&);
    // Unknown ids change nothing.
    void erase(std::string_view worker_id);

    // One hash look-up; allocates nothing.
    [[nodiscard]] std::optional<Role> role_of(std::string_view worker_id) const override;
    [[nodiscard]] const Worker* find(std::string_view worker_id) const;
    [[nodiscard]] const PerRole<std::int64_t>& workers() const { return workers_; }
    [[nodiscard]] const PerRole<std::int64_t>& engines() const { return engines_; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };

    void count(const Worker&, std::int64_t sign);
    void join(std::string_view worker_id, const Worker&, std::int64_t rank);
    void leave(std::string_view worker_id, Role, std::int64_t rank);

    port::EventSink& sink_;
    std::unordered_map<std::string, Worker, Hash, std::equal_to<>> table_;
    PerRole<std::int64_t> workers_;
    PerRole<std::int64_t> engines_;
};

}  // namespace dynaplan::discovery
