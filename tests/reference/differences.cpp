#include "reference/differences.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/reasons.hpp"

namespace dynaplan::reference {

namespace {

std::string text(const std::optional<Reason>& r) { return r ? std::string{to_string(*r)} : "none"; }
std::string text(const std::optional<Replicas>& n) { return n ? std::to_string(n->count()) : "none"; }
std::string text(const std::optional<double>& v) {
    std::ostringstream out;
    out.precision(17);
    if (v) {
        out << *v;
    } else {
        out << "none";
    }
    return out.str();
}

// Collects what differs between the two answers of one tick.
class Differences {
public:
    template <class T>
    void exact(const char* what, const T& got, const T& expected) {
        if (text(got) != text(expected)) note(what, text(got), text(expected));
    }
    void close(const char* what, std::optional<double> got, std::optional<double> expected) {
        constexpr double tolerance = 1e-9;
        if (got && expected &&
            std::abs(*got - *expected) <= tolerance * std::max(std::abs(*got), std::abs(*expected)))
            return;
        if (got || expected) note(what, text(got), text(expected));
    }
    void close(const char* what, std::optional<Millis> got, std::optional<Millis> expected) {
        const auto count = [](std::optional<Millis> ms) {
            return ms ? std::optional{ms->count()} : std::nullopt;
        };
        close(what, count(got), count(expected));
    }
    [[nodiscard]] const std::string& list() const { return list_; }

private:
    void note(const char* what, const std::string& got, const std::string& expected) {
        list_ += std::string{what} + ": got " + got + ", expected " + expected + "\n";
    }
    std::string list_;
};

}  // namespace

std::string differences(const std::optional<ScalingTarget>& got,
                        const std::optional<ScalingTarget>& expected) {
    if (got.has_value() != expected.has_value())
        return got ? "scale_to: got one, expected none\n" : "scale_to: got none, expected one\n";
    Differences d;
    const ScalingTarget none;
    for (const Role role : all_roles)
        d.exact("scale_to", got.value_or(none)[role], expected.value_or(none)[role]);
    return d.list();
}

std::string differences(const Diagnostics& got, const Diagnostics& expected) {
    Differences d;
    for (const Role role : all_roles) {
        d.exact("bound", std::optional{got.throughput_lower_bound[role]},
                std::optional{expected.throughput_lower_bound[role]});
        d.exact("load reason of a side", got.load_decision_reason_of[role],
                expected.load_decision_reason_of[role]);
        d.exact("throughput reason of a side", got.throughput_decision_reason_of[role],
                expected.throughput_decision_reason_of[role]);
        d.close("engine_rps", got.engine_rps[role], expected.engine_rps[role]);
    }
    d.exact("load reason", got.load_decision_reason, expected.load_decision_reason);
    d.exact("throughput reason", got.throughput_decision_reason, expected.throughput_decision_reason);
    d.close("estimated_ttft", got.estimated_ttft, expected.estimated_ttft);
    d.close("estimated_itl", got.estimated_itl, expected.estimated_itl);
    d.close("predicted_num_req", got.predicted_num_req, expected.predicted_num_req);
    d.close("predicted_isl", got.predicted_isl, expected.predicted_isl);
    d.close("predicted_osl", got.predicted_osl, expected.predicted_osl);
    d.close("predicted_kv_hit_rate", got.predicted_kv_hit_rate, expected.predicted_kv_hit_rate);
    return d.list();
}

std::string differences(const ScheduledTick& got, const ScheduledTick& expected) {
    Differences d;
    d.close("next tick", std::optional{seconds_of(got.at)}, std::optional{seconds_of(expected.at)});
    d.close("next tick's window", std::optional{got.traffic_duration.count()},
            std::optional{expected.traffic_duration.count()});
    const bool same = got.run_load == expected.run_load && got.run_throughput == expected.run_throughput &&
                      got.need_traffic == expected.need_traffic && got.need_fpm == expected.need_fpm &&
                      got.need_worker_states == expected.need_worker_states;
    return same ? d.list() : d.list() + "next tick: flags differ\n";
}

}  // namespace dynaplan::reference
