#include "app/serve_metrics.hpp"

#include "app/version.hpp"
#include "observe/exposition.hpp"

namespace dynaplan::app {

namespace {

using observe::Exposition;

double number(auto value) { return static_cast<double>(value); }

void add_bus(Exposition& out, const runtime::Service& service, const port::BusCounts& bus) {
    out.counter("dynaplan_fpm_received_total", "Messages that came over the bus, of any kind.");
    out.sample(number(bus.received));
    out.counter("dynaplan_fpm_decoded_total", "Reports that were read and admitted.");
    out.sample(number(bus.decoded));
    out.counter("dynaplan_fpm_observed_total", "Reports that entered the models, by role.");
    for (const Role role : all_roles) {
        if (has_role(service.planner().config().mode, role))
            out.sample(number(service.planner().observed(role)), {{"role", to_string(role)}});
    }
    out.counter("dynaplan_fpm_refused_total", "Frames and payloads that were not used, by cause.");
    for (const auto& [cause, n] : bus.refused) out.sample(number(n), {{"reason", cause}});
    out.counter("dynaplan_fpm_gap_total", "Reports that never came, by the engines' counters.");
    out.sample(number(bus.gaps));
    out.histogram("dynaplan_fpm_lag_seconds",
                  "From publication to arrival, by the wall clocks of both machines; event plane only.",
                  port::BusCounts::lag_bounds_s, bus.lag_counts, bus.lag_sum_s);
    out.counter("dynaplan_fpm_identity_mismatch_total",
                "Messages taken although frames and envelope disagree on who sent them.");
    out.sample(number(bus.identity_mismatch));
    out.gauge("dynaplan_bus_connected", "1 while a report can arrive.");
    out.sample(bus.connected ? 1 : 0);
    out.counter("dynaplan_bus_links_up_total", "Connections of the bus that came about, also again.");
    out.sample(number(bus.links_up));
    out.counter("dynaplan_bus_links_down_total", "Connections of the bus that were lost.");
    out.sample(number(bus.links_down));
    out.counter("dynaplan_bus_errors_total", "Attempts to connect that failed, by cause.");
    for (const auto& [cause, n] : bus.errors) out.sample(number(n), {{"reason", cause}});
}

void add_discovery(Exposition& out, const runtime::Service& service, const runtime::DiscoveryView& view) {
    out.gauge("dynaplan_discovery_stale", "1 while discovery cannot read its store; what it knew stays.");
    out.sample(view.stale ? 1 : 0, {{"backend", view.backend}});
    out.gauge("dynaplan_discovery_workers", "Workers that discovery knows, by role.");
    for (const Role role : all_roles) {
        if (has_role(service.planner().config().mode, role))
            out.sample(number(view.workers[role]), {{"role", to_string(role)}});
    }
    out.counter("dynaplan_discovery_refused_total", "Records that were not used, by cause.");
    for (const auto& [cause, n] : view.refused) out.sample(number(n), {{"reason", cause}});
}

void add_decisions(Exposition& out, const runtime::Service& service, std::size_t waiting) {
    out.counter("dynaplan_decisions_total", "Decisions by the state that they reached.");
    for (const auto& [state, n] : service.counts().decisions) out.sample(number(n), {{"state", state}});
    out.counter("dynaplan_proposals_total", "Proposals of the core.");
    out.sample(number(service.counts().proposals));
    out.counter("dynaplan_proposals_refused_total", "Proposals that became no decision, by cause.");
    for (const auto& [reason, n] : service.counts().refused) out.sample(number(n), {{"reason", reason}});
    out.counter("dynaplan_load_ticks_total", "Load ticks that ran.");
    out.sample(number(service.counts().load_ticks));
    out.counter("dynaplan_throughput_ticks_total", "Throughput ticks that ran.");
    out.sample(number(service.counts().throughput_ticks));
    out.gauge("dynaplan_waiters", "Clients that wait for the next decision.");
    out.sample(number(waiting));
}

void add_roles(Exposition& out, const runtime::Service& service) {
    const plan::Planner& planner = service.planner();
    out.gauge("dynaplan_replicas", "Replicas of a role: ready, and expected once what is under way is done.");
    for (const Role role : all_roles) {
        if (!has_role(planner.config().mode, role)) continue;
        out.sample(number(planner.ready_at(role, service.now()).count()),
                   {{"role", to_string(role)}, {"state", "ready"}});
        if (const auto expected = planner.expected(role))
            out.sample(number(expected->count()), {{"role", to_string(role)}, {"state", "expected"}});
    }
    out.gauge("dynaplan_engines", "Engines that report, by role.");
    for (const Role role : all_roles) {
        if (has_role(planner.config().mode, role))
            out.sample(number(planner.engines().reported(role).size()), {{"role", to_string(role)}});
    }
    out.gauge("dynaplan_startup_seconds",
              "Measured time from a published decision to the engine's first report.");
    for (const Role role : all_roles) {
        if (const auto startup = planner.startup(role))
            out.sample(startup->count(), {{"role", to_string(role)}});
    }
    const std::vector<Hold> holds = service.holds();
    out.gauge("dynaplan_hold", "1 for what keeps a role from acting, by reason.");
    for (const Hold& hold : holds)
        out.sample(1, {{"role", to_string(hold.role)}, {"reason", to_string(hold.reason)}});
    out.gauge("dynaplan_hold_deadline_timestamp_seconds",
              "When a hold ends at the latest, where that is a time.");
    for (const Hold& hold : holds) {
        if (hold.deadline)
            out.sample(seconds_of(*hold.deadline),
                       {{"role", to_string(hold.role)}, {"reason", to_string(hold.reason)}});
    }
}

}  // namespace

std::string metrics_text(const MetricSources& from) {
    const runtime::Service& service = from.service;
    const port::Journal& journal = from.journal;
    Exposition out;
    out.gauge("dynaplan_build_info", "The program's version.");
    out.sample(1, {{"version", program_version}});
    add_bus(out, service, from.bus);
    add_discovery(out, service, from.discovery);
    add_decisions(out, service, from.waiting);
    add_roles(out, service);
    out.gauge("dynaplan_leader", "1 while this planner is the one that decides.");
    out.sample(service.leading() ? 1 : 0);
    out.gauge("dynaplan_ready", "1 while nothing is missing (readyz).");
    out.sample(service.missing().empty() ? 1 : 0);
    out.gauge("dynaplan_store_available", "1 while the store has been read and can be written.");
    out.sample(service.coordinator().restored() ? 1 : 0);
    out.gauge("dynaplan_journal_degraded", "1 while the journal cannot keep everything.");
    out.sample(journal.state().degraded ? 1 : 0);
    out.counter("dynaplan_journal_dropped_total", "Records that the journal could not keep.");
    out.sample(number(journal.dropped()));
    out.counter("dynaplan_stalls_total", "Times that the process stood still for more than five seconds.");
    out.sample(number(service.counts().stalls));
    return out.text();
}

}  // namespace dynaplan::app
