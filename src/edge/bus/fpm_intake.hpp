// The way of a report from payload bytes to the core, the same for every transport: decode, admit, count what
// was lost on the way, hand over. Allocates nothing for an engine that is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/event.hpp"
#include "core/role.hpp"
#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"
#include "port/workers.hpp"
#include "wire/fpm_decode.hpp"

namespace dynaplan::bus {

class FpmIntake {
public:
    // `directory`: only reports of workers that it knows are handed on, under the role that it names. None:
    // every engine that reports is taken, and each payload must come with its role.
    FpmIntake(port::EventSink&, port::BusCounts&, const port::WorkerDirectory* directory = nullptr);

    // One payload; `role` where the address or subject that it came over tells it. Returns the cause when it
    // was refused (and counted), empty when it was handed on.
    std::string_view take(std::optional<Role> role, std::string_view payload);

private:
    struct EngineView {
        std::string_view worker_id;
        std::int64_t dp_rank = 0;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const EngineView& e) const {
            return std::hash<std::string_view>{}(e.worker_id) ^
                   static_cast<std::size_t>(e.dp_rank * 0x9e3779b9);
        }
        std::size_t operator()(const EngineKey& e) const {
            return (*this)(EngineView{e.worker_id, e.dp_rank});
        }
    };
    struct Equal {
        using is_transparent = void;
        static EngineView view(const EngineKey& e) { return {e.worker_id, e.dp_rank}; }
        static EngineView view(const EngineView& e) { return e; }
        bool operator()(const auto& a, const auto& b) const {
            return view(a).dp_rank == view(b).dp_rank && view(a).worker_id == view(b).worker_id;
        }
    };
    // Names that nobody uses any more must not pile up: a full table starts anew, and forgets a gap at most.
    static constexpr std::size_t engines_most = std::size_t{1} << 16U;

    // Real ids have at most twenty digits; what is kept by id must not grow with what a stranger sends.
    static constexpr std::size_t worker_id_bytes_most = 256;

    void count_gap(const Fpm&);
    std::string_view refuse(std::string_view cause);

    port::EventSink& sink_;
    port::BusCounts& counts_;
    const port::WorkerDirectory* directory_;
    wire::DecodedFpm decoded_;
    Event event_;
    std::unordered_map<EngineKey, std::int64_t, Hash, Equal> last_counter_;
};

}  // namespace dynaplan::bus
