#include "bench/bus_rates.hpp"

#include "bench/samples.hpp"
#include "wire/fpm_encode.hpp"

namespace dynaplan::bench {

namespace {

constexpr std::int64_t engines = 100;
constexpr std::int64_t rounds = 200;

}  // namespace

std::vector<BusReport> bus_reports() {
    ReportingFleet fleet{engines, 777};
    std::vector<BusReport> reports;
    for (const Event& event : fleet.rounds(rounds, at_seconds(0.0), Seconds{0.0})) {
        const auto& arrived = std::get<FpmArrived>(event.body);
        BusReport& report = reports.emplace_back();
        report.role = arrived.role;
        wire::encode_fpm(arrived.fpm, report.payload);
    }
    return reports;
}

ModelSink::ModelSink(Arrivals& arrivals)
    : arrivals_{arrivals}, fleet_{engines}, planner_{tick_config(Preset::dynaplan)}, begun_{Clock::now()} {
    settle_in(planner_, fleet_);
    constexpr double after_settling_s = 4.0;
    settled_ = at_seconds(after_settling_s);
}

void ModelSink::take(Event& event) {
    event.at = settled_ + Seconds{std::chrono::duration<double>(Clock::now() - begun_)};
    const Effects effects = planner_.step(event);
    if (!effects.empty()) answer(planner_, effects, event.at, draws_);
    if (std::holds_alternative<FpmArrived>(event.body)) arrivals_.one();
}

std::int64_t ModelSink::observed() const {
    return planner_.observed(Role::prefill) + planner_.observed(Role::decode);
}

}  // namespace dynaplan::bench
