#include "bus/fpm_intake.hpp"

#include <utility>

#include "wire/fpm_admit.hpp"

namespace dynaplan::bus {

FpmIntake::FpmIntake(port::EventSink& sink, port::BusCounts& counts, const port::WorkerDirectory* directory)
    : sink_{sink}, counts_{counts}, directory_{directory} {
    event_.body.emplace<FpmArrived>();
}

std::string_view FpmIntake::take(std::optional<Role> role, std::string_view payload) {
    wire::FpmResult result = wire::decode_fpm(payload, decoded_);
    if (result) result = wire::admit(decoded_);
    if (!result) return refuse(wire::to_string(result.error()));
    if (decoded_.fpm.worker_id.size() > worker_id_bytes_most) return refuse("worker_id_length");
    if (directory_ != nullptr) {
        role = directory_->role_of(decoded_.fpm.worker_id);
        if (!role) return refuse("unknown_worker");
    }
    if (!role) return refuse("unknown_role");
    ++counts_.decoded;
    count_gap(decoded_.fpm);
    auto& arrived = std::get<FpmArrived>(event_.body);
    arrived.role = *role;
    std::swap(arrived.fpm, decoded_.fpm);  // both keep their room for the next one
    sink_.take(event_);
    return {};
}

std::string_view FpmIntake::refuse(std::string_view cause) {
    counts_.refuse(cause);
    return cause;
}

// A smaller counter means that the publisher has started anew, which is no loss (specification 1.5).
void FpmIntake::count_gap(const Fpm& fpm) {
    const std::int64_t counter = fpm.pass.counter_id;
    const auto place = last_counter_.find(EngineView{fpm.worker_id, fpm.dp_rank});
    if (place == last_counter_.end()) {
        if (last_counter_.size() >= engines_most) last_counter_.clear();
        last_counter_.emplace(EngineKey{fpm.worker_id, fpm.dp_rank}, counter);
        return;
    }
    // Both are at least 0, and the last one may be the largest there is.
    if (counter - 1 > place->second) counts_.gaps += static_cast<std::uint64_t>(counter - 1 - place->second);
    place->second = counter;
}

}  // namespace dynaplan::bus
