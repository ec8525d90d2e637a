// Second half of loading: the preset's defaults, the merged settings on top, then the rules between fields.
#include "app/config_load.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/config_gather.hpp"
#include "app/config_lists.hpp"
#include "app/config_words.hpp"

namespace dynaplan::app {
namespace {

using Kind = Origin::Kind;

class Loader {
public:
    Loader(const ConfigRequest& request, LoadedConfig& out) : request_{request}, out_{out} {}

    void run() {
        gather_environment(request_.environment, gathered_);
        if (request_.config) {
            auto document = read_document(*request_.config);
            if (document) {
                place_ = document->place;
                gather_document(*document, request_.allow_unknown, gathered_);
            } else {
                gathered_.problems.push_back({"", 0, document.error().message});
                gather_overrides(request_.overrides, gathered_);
                finish();  // the rules would speak of a configuration that was never read
                return;
            }
        }
        gather_overrides(request_.overrides, gathered_);

        take_environment();
        take_planner();
        take_rest();
        check_rest();
        warn();
        finish();
    }

private:
    [[nodiscard]] const Setting* find(const std::string& path) const {
        const auto found = gathered_.settings.find(path);
        return found == gathered_.settings.end() ? nullptr : &found->second;
    }

    // The place of a field that was written, else the configuration as a whole.
    void problem(const std::string& path, const std::string& message) {
        if (const Setting* s = find(path)) {
            gathered_.problems.push_back({s->origin.place, s->origin.line, s->origin.name + ": " + message});
        } else {
            gathered_.problems.push_back({place_, 0, path + ": " + message});
        }
    }

    void take_environment() {
        auto& d = out_.config.deployment;
        const auto variable = [this](std::string_view name) {
            auto v = request_.environment(name);
            if (v && v->empty()) v.reset();
            return v;
        };
        d.graph_name = variable("DYN_PARENT_DGD_K8S_NAME");
        d.pod_namespace = variable("POD_NAMESPACE");
    }

    [[nodiscard]] bool has_traffic_source() const {
        return request_.traffic_source || find("metric_pulling_prometheus_endpoint") != nullptr;
    }

    void take_planner() {
        const Setting* preset = find("preset");
        const bool dynamo = preset != nullptr && std::get<std::string>(preset->value) == "dynamo";
        PlannerConfig planner = config_of(dynamo ? Preset::dynamo : Preset::dynaplan);
        if (!dynamo && !has_traffic_source()) planner.enable_throughput_scaling = false;
        preset_ = planner.preset;

        std::vector<NamedValue> values;
        bool arima = dynamo;  // Dynamo's default, unless another predictor is written
        for (const auto& [path, s] : gathered_.settings) {
            if (s.row.planner == nullptr) continue;
            if (path == "load_predictor") {
                arima = std::get<std::string>(s.value) == "arima";
                if (arima) continue;
            }
            values.emplace_back(path, s.value);
        }
        // Unsound values have been reported where they were written; the rules below see the sound rest.
        for (const auto& [path, value] : values) find_field(path)->set(planner, value);
        force_easy_target(planner);
        check_predictor(arima, planner);
        for (const Problem& p : find_problems(planner)) problem(p.field, p.message);
        out_.config.planner = planner;
    }

    void check_predictor(bool arima, const PlannerConfig& planner) {
        if (!arima) return;
        const bool written = find("load_predictor") != nullptr;
        const std::string use = " does not exist in Dynaplan yet: use constant or kalman";
        if (planner.preset == Preset::dynaplan) {
            problem("load_predictor", "arima" + use);
        } else if (planner.enable_throughput_scaling) {
            problem("load_predictor", (written ? "arima" : "arima, the default of preset dynamo,") + use);
        }
    }

    void take_rest() {
        auto& d = out_.config.deployment;
        const bool kubernetes = d.graph_name.has_value() || preset_ == Preset::dynamo;
        d.environment = kubernetes ? DeployedBy::kubernetes : DeployedBy::virtual_connector;
        for (const auto& [path, s] : gathered_.settings) {
            if (s.row.app != nullptr) s.row.app->set(out_.config, s.value);
            if (s.row.list != nullptr) take_list(*s.row.list, s, out_.config, gathered_.problems);
        }
        // Who sets Dynamo's variable means Dynamo's event plane.
        if (find("bus.plane") == nullptr && request_.environment("DYN_EVENT_PLANE").value_or("") != "")
            out_.config.bus.plane = Plane::event;
        take_control_port();
    }

    // Dynamo's control_api_port is the port of http.listen; both given must agree.
    void take_control_port() {
        const Setting* port = find("control_api_port");
        if (port == nullptr) return;
        const auto number = std::get<std::int64_t>(port->value);
        std::string& listen = out_.config.http.listen;
        const std::string as_listen = number == 0 ? "off" : "127.0.0.1:" + std::to_string(number);
        if (find("http.listen") == nullptr) {
            listen = as_listen;
            return;
        }
        const auto written = host_port(listen);
        const bool agree = written ? written->port == number && number != 0 : listen == "off" && number == 0;
        if (!agree)
            problem("control_api_port",
                    "says another port than http.listen (" + printable(listen) + "): give one of them");
    }

    void check_rest() {
        const AppConfig& c = out_.config;
        if (c.deployment.environment == DeployedBy::global_planner &&
            !c.deployment.global_planner_namespace) {
            problem("global_planner_namespace", "is needed by environment global-planner");
        }
        if (c.bus.transport == Transport::nats && c.bus.server.empty())
            problem("bus.server", "must not be empty");
        if (c.discovery.backend == DiscoveryBackend::static_list && c.bus.endpoints.empty()) {
            problem("bus.endpoints", "is needed by discovery.backend static");
        }
        if (c.decisions.store == StoreKind::file && c.decisions.path.empty()) {
            problem("decisions.path", "must not be empty");
        }
        const bool uses_etcd =
            c.decisions.store == StoreKind::etcd || c.discovery.backend == DiscoveryBackend::etcd;
        if (uses_etcd && c.etcd.endpoints.empty()) problem("etcd.endpoints", "must name at least one member");
        if (c.journal.kept_mb < c.journal.segment_mb) {
            problem("journal.kept_mb", "must be at least journal.segment_mb (" +
                                           std::to_string(c.journal.segment_mb) + "), not " +
                                           std::to_string(c.journal.kept_mb));
        }
        if (const auto& bundle = c.metrics.pulling_ca_bundle) {
            std::error_code error;
            if (!std::filesystem::is_regular_file(*bundle, error)) {
                problem("metric_pulling_prometheus_ca_bundle", "no such file: " + printable(*bundle));
            }
        }
        check_http();
    }

    void check_http() {
        const HttpConfig& http = out_.config.http;
        if (http.listen == "off") return;
        const auto address = host_port(http.listen);
        if (!address) {
            problem("http.listen", "must be host:port, such as 127.0.0.1:9086, or off; not \"" +
                                       printable(http.listen) + "\"");
        } else if (!is_loopback(address->host) && !http.token_file) {
            problem("http.listen", "is open beyond this machine: that needs http.token_file");
        }
    }

    void warn() {
        const PlannerConfig& p = out_.config.planner;
        const auto say = [this](const std::string& path, const std::string& message) {
            const Setting* s = find(path);
            if (s == nullptr) return;
            out_.warnings.push_back(
                line_of({s->origin.place, s->origin.line, s->origin.name + ": " + message}));
        };
        // Manifests of October 2025 gave both in seconds.
        constexpr double seconds_below = 10.0;
        if (p.ttft.count() < seconds_below)
            say("ttft", "milliseconds are meant here; this looks like seconds");
        // An ITL of a few milliseconds is a fair target in a file of today; the flags are the ones of 2025.
        const Setting* itl = find("itl");
        const bool by_flag = itl != nullptr && itl->origin.kind == Kind::flag;
        if (p.itl.count() < (by_flag ? seconds_below : 1.0)) {
            say("itl", "milliseconds are meant here; this looks like seconds");
        }
        if (p.easy()) {
            const std::string unused =
                "has no effect with optimization_target " + std::string{to_string(p.optimization_target)};
            say("ttft", unused);
            say("itl", unused);
            for (const auto* name : {"enable_throughput_scaling", "enable_load_scaling"}) {
                const Setting* s = find(name);
                if (s != nullptr && s->row.planner->get(p) != s->value) {
                    say(name, "is overruled by optimization_target " +
                                  std::string{to_string(p.optimization_target)});
                }
            }
        }
        const DeploymentConfig standard;
        if (out_.config.deployment.log_dir != standard.log_dir) say("log_dir", "has no effect");
        if (out_.config.deployment.load_metric_samples != standard.load_metric_samples) {
            say("load_metric_samples", "has no effect");
        }
        if (request_.config && p.max_gpu_budget >= 0) warn_gpu_counts(p);
    }

    void warn_gpu_counts(const PlannerConfig& p) {
        if (out_.config.deployment.environment != DeployedBy::virtual_connector) return;
        for (const Role role : all_roles) {
            if (!has_role(p.mode, role) || p.gpus(role)) continue;
            out_.warnings.push_back(
                line_of({place_, 0,
                         std::string{to_string(role)} +
                             "_engine_num_gpu: is not given; until the engines tell it, the GPU "
                             "budget cannot be kept"}));
        }
    }

    void finish() {
        for (const auto& [path, s] : gathered_.settings) out_.origins[path] = s.origin;
        mark_preset_defaults();
        out_.warnings.insert(out_.warnings.end(), gathered_.warnings.begin(), gathered_.warnings.end());
        sort_problems();
        for (const PlacedProblem& p : gathered_.problems) out_.problems.push_back(line_of(p));
        const auto repeated = std::unique(out_.problems.begin(), out_.problems.end());
        out_.problems.erase(repeated, out_.problems.end());
    }

    // Sources in the order in which they first had a problem, each by line.
    void sort_problems() {
        std::map<std::string, std::size_t> rank;
        for (const PlacedProblem& p : gathered_.problems) rank.emplace(p.place, rank.size());
        std::ranges::stable_sort(gathered_.problems, {}, [&rank](const PlacedProblem& p) {
            return std::pair{rank[p.place], p.line};
        });
    }

    // A value that nobody wrote and that the preset chooses says so, also where the preset is the default
    // one.
    void mark_preset_defaults() {
        const PlannerConfig dynamo = config_of(Preset::dynamo);
        const PlannerConfig dynaplan = config_of(Preset::dynaplan);
        const std::string name = preset_ == Preset::dynamo ? "dynamo" : "dynaplan";
        for (const Field& f : planner_fields()) {
            const std::string path = f.path();
            if (path == "preset" || out_.origins.contains(path)) continue;
            if (f.get(dynamo) != f.get(dynaplan)) out_.origins[path] = Origin{Kind::preset, name, 0, path};
        }
        for (const auto* path : {"enable_throughput_scaling", "enable_load_scaling", "load_predictor"}) {
            if (!out_.origins.contains(path)) out_.origins[path] = Origin{Kind::preset, name, 0, path};
        }
        if (!out_.origins.contains("environment")) {
            const bool graph = out_.config.deployment.graph_name.has_value();
            out_.origins["environment"] =
                graph ? Origin{Kind::environment, "DYN_PARENT_DGD_K8S_NAME", 0, "environment"}
                      : Origin{Kind::preset, name, 0, "environment"};
        }
    }

    const ConfigRequest& request_;
    LoadedConfig& out_;
    Gathered gathered_;
    std::string place_;  // of the document
    Preset preset_ = Preset::dynaplan;
};

}  // namespace

Environment process_environment() {
    return [](std::string_view name) -> std::optional<std::string> {
        const char* value = std::getenv(std::string{name}.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>{value};
    };
}

Environment no_environment() {
    return [](std::string_view) { return std::optional<std::string>{}; };
}

LoadedConfig load_config(const ConfigRequest& request) {
    LoadedConfig loaded;
    Loader{request, loaded}.run();
    return loaded;
}

}  // namespace dynaplan::app
