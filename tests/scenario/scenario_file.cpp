#include "scenario/scenario_file.hpp"

#include <fstream>
#include <map>
#include <utility>

namespace dynaplan::scenario {

namespace {

// The short names of a load, and where each stands in an FPM.
struct ShortName {
    const char* name;
    const char* block;
    const char* field;
};
constexpr ShortName short_names[] = {
    {"prompts", "scheduled_requests", "num_prefill_requests"},
    {"tokens", "scheduled_requests", "sum_prefill_tokens"},
    {"requests", "scheduled_requests", "num_decode_requests"},
    {"kv", "scheduled_requests", "sum_decode_kv_tokens"},
    {"queued_prompts", "queued_requests", "num_prefill_requests"},
    {"queued_tokens", "queued_requests", "sum_prefill_tokens"},
    {"queued_requests", "queued_requests", "num_decode_requests"},
    {"queued_kv", "queued_requests", "sum_decode_kv_tokens"},
};

class Reader {
public:
    explicit Reader(Scenario& out) : out_{out} {}

    void take(const std::string& text, std::size_t number) {
        line_ = number;
        if (text.find_first_not_of(" \t\r") == std::string::npos) return;
        const Json line = Json::parse(text);
        if (line.contains("why")) {
            out_.why = line["why"].get<std::string>();
        } else if (line.contains("config")) {
            add(Step::Kind::config, line["config"]);
        } else if (line.contains("assume")) {
            add(Step::Kind::assume, line["assume"]);
        } else if (line.contains("decision_timeout_s")) {
            add(Step::Kind::timeout, line["decision_timeout_s"]);
        } else if (line.contains("expect")) {
            add(Step::Kind::expect, line["expect"]);
        } else if (line.contains("repeat")) {
            repeat(line);
        } else {
            unfold(line, 0.0);
        }
    }

private:
    void add(Step::Kind kind, Json value) { out_.steps.push_back({kind, line_, std::move(value)}); }

    void repeat(const Json& line) {
        const Json& r = line.at("repeat");
        const double from = r.at("from");
        const double to = r.at("to");
        const double every = r.at("every");
        constexpr double rounding = 1e-9;
        for (std::int64_t k = 0;; ++k) {
            const double t = from + static_cast<double>(k) * every;
            if (t > to + rounding) break;
            for (const Json& inner : line.at("lines")) unfold(inner, t);
        }
    }

    // One line for each worker that it names; `offset` is added to its time.
    void unfold(const Json& line, double offset) {
        const Json& body = line.contains("passes") ? line["passes"] : line;
        if (body.contains("worker_id") && body["worker_id"].is_array()) {
            for (const Json& id : body["worker_id"]) {
                Json one = line;
                (line.contains("passes") ? one["passes"] : one)["worker_id"] = id;
                unfold(one, offset);
            }
            return;
        }
        const double t = line.value("t", 0.0) + offset;
        if (line.contains("passes")) {
            passes(line["passes"], t);
            return;
        }
        Json event = line;
        event["t"] = t;
        if (event.contains("fpm") && event["fpm"].is_object() && !event["fpm"].contains("counter_id")) {
            event["fpm"]["counter_id"] = next_counter(event.at("role"), event["fpm"].at("worker_id"),
                                                      event["fpm"].value("dp_rank", std::int64_t{0}));
        }
        add(Step::Kind::event, std::move(event));
    }

    std::int64_t next_counter(const std::string& role, const std::string& worker, std::int64_t rank) {
        return ++counters_[role + "/" + worker + "/" + std::to_string(rank)];
    }

    // One FPM for each load, all at the time of the line, or `every` seconds apart.
    void passes(const Json& p, double t) {
        const double every = p.value("every", 0.0);
        std::int64_t k = 0;
        for (const Json& load : p.at("loads")) {
            add(Step::Kind::event, fpm_event(p, load, t + every * static_cast<double>(k++)));
        }
    }

    Json fpm_event(const Json& p, const Json& load, double t) {
        const std::string role = p.at("role");
        const std::string worker = p.at("worker_id");
        const std::int64_t rank = p.value("dp_rank", std::int64_t{0});
        Json fpm{{"version", 1}, {"worker_id", worker}, {"dp_rank", rank}};
        fpm["counter_id"] = next_counter(role, worker, rank);
        fpm["wall_time"] = wall_time(p, load);
        for (const ShortName& s : short_names) {
            if (load.contains(s.name)) fpm[s.block][s.field] = load[s.name];
        }
        for (const auto& [name, value] : load.items()) check_name(name);
        return {{"t", t}, {"event", "fpm"}, {"role", role}, {"fpm", fpm}};
    }

    static void check_name(const std::string& name) {
        if (name == "wall") return;
        for (const ShortName& s : short_names) {
            if (name == s.name) return;
        }
        throw std::runtime_error("unknown name in a load: " + name);
    }

    static double wall_time(const Json& p, const Json& load) {
        if (load.contains("wall")) return load["wall"];
        const Json& time = p.at("time");
        return time.value("base", 0.0) + time.value("per_token", 0.0) * load.value("tokens", 0.0) +
               time.value("per_request", 0.0) * load.value("requests", 0.0) +
               time.value("per_kv", 0.0) * load.value("kv", 0.0);
    }

    Scenario& out_;
    std::size_t line_ = 0;
    std::map<std::string, std::int64_t> counters_;
};

}  // namespace

Result<Scenario> read_scenario(const std::filesystem::path& path) {
    std::ifstream in{path};
    if (!in) return failure(path.string() + ": cannot be read");
    Scenario scenario;
    scenario.name = path.stem().string();
    Reader reader{scenario};
    for (std::string line; std::getline(in, line);) {
        scenario.lines.push_back(line);
        try {
            reader.take(line, scenario.lines.size());
        } catch (const std::exception& e) {  // of the JSON library
            return failure(path.string() + ":" + std::to_string(scenario.lines.size()) + ": " + e.what());
        }
    }
    if (scenario.why.empty()) return failure(path.string() + ":1: a scenario says why it is there");
    return scenario;
}

}  // namespace dynaplan::scenario
