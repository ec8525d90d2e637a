// A simulated fleet that runs at the pace of the wall clock and reports over ZeroMQ as engines do (the raw
// hop, one address per role). Lines on standard input scale it, so that a shell script can be its operator:
//   scale prefill=2 decode=5
// It ends by itself, with what its requests saw.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <poll.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <zmq.hpp>

#include "bus/zmq_publisher.hpp"
#include "sim/fleet.hpp"
#include "wire/fpm_encode.hpp"

namespace {

using namespace dynaplan;
using Clock = std::chrono::steady_clock;

struct Options {
    sim::Shape shape = sim::Shape::ramp;
    Mode mode = Mode::disagg;
    std::int64_t replicas = 1;
    double seconds = 30.0;
    double rate = 4.0;
    double peak = 16.0;
    double from = 5.0;
    double duration = 10.0;
    double startup = 3.0;
    double isl = 3000.0;
    double osl = 300.0;
    std::uint64_t seed = 1;
    double wait = 30.0;
};

sim::FleetConfig fleet_of(const Options& o) {
    sim::FleetConfig c;
    c.mode = o.mode;
    c.traffic.load.shape = o.shape;
    c.traffic.load.rate = o.rate;
    c.traffic.load.peak = o.peak;
    c.traffic.load.from = Seconds{o.from};
    c.traffic.load.duration = Seconds{o.duration};
    c.traffic.load.period = Seconds{o.seconds};
    c.traffic.isl = {o.isl, 0.3, 30'000};
    c.traffic.osl = {o.osl, 0.3, 4'000};
    for (const Role role : all_roles) {
        c.role[role].replicas = o.replicas;
        c.role[role].startup.typical = Seconds{o.startup};
    }
    return c;
}

// One line from standard input: the counts that it names.
std::optional<ScaleTo> parse_scale(std::string_view line) {
    constexpr std::string_view head = "scale ";
    if (!line.starts_with(head)) return std::nullopt;
    ScaleTo scale;
    bool any = false;
    for (const auto& [name, target] :
         {std::pair{std::string_view{"prefill="}, &scale.prefill}, {"decode=", &scale.decode}}) {
        const auto at = line.find(name);
        if (at == std::string_view::npos) continue;
        std::int64_t n = 0;
        const char* first = line.data() + at + name.size();
        const auto [end, error] = std::from_chars(first, line.data() + line.size(), n);
        if (end == first) continue;  // an empty value: the planner has no opinion on this role
        if (error != std::errc{} || n < 0) return std::nullopt;
        *target = Replicas{n};
        any = true;
    }
    return any ? std::optional{scale} : std::nullopt;
}

class LiveFleet {
public:
    LiveFleet(const Options& options, const sim::FleetConfig& config)
        : options_{options}, fleet_{config, options.seed} {}

    bool bind() {
        for (const Role role : all_roles) {
            if (!has_role(options_.mode, role)) continue;
            auto publisher = bus::ZmqPublisher::bind(context_, "tcp://127.0.0.1:*", true);
            if (!publisher) {
                std::fprintf(stderr, "live_fleet: %s\n", publisher.error().message.c_str());
                return false;
            }
            std::printf("%s %s\n", std::string{to_string(role)}.c_str(), (*publisher)->endpoint().c_str());
            publisher_[role] = std::move(*publisher);
        }
        std::fflush(stdout);
        return true;
    }

    bool wait_for_reader() {
        const auto deadline = Clock::now() + std::chrono::duration<double>{options_.wait};
        for (const Role role : all_roles) {
            while (publisher_[role] && publisher_[role]->subscribers() == 0) {
                if (Clock::now() >= deadline) return false;
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
            }
        }
        return true;
    }

    void run() {
        started_ = Clock::now();
        const TimePoint end = at_seconds(options_.seconds);
        std::vector<Event> events;
        for (TimePoint now = elapsed(); now < end; now = elapsed()) {
            events.clear();
            fleet_.run_until(now, events);
            for (const Event& event : events) publish(event);
            say_changes(now);
            const TimePoint next = std::min(end, fleet_.next_time().value_or(end));
            read_commands(std::max(0.0, (next - elapsed()).count()));
        }
        const sim::Scores s = fleet_.scores(TimePoint{});
        std::printf("fleet: %lld requests, %lld finished; TTFT p95 %.0f ms, ITL p95 %.1f ms\n",
                    static_cast<long long>(s.arrived), static_cast<long long>(s.finished), s.ttft_p95.count(),
                    s.itl_p95.count());
    }

private:
    [[nodiscard]] TimePoint elapsed() const { return TimePoint{Seconds{Clock::now() - started_}}; }

    void publish(const Event& event) {
        const auto* report = std::get_if<FpmArrived>(&event.body);
        if (report == nullptr || !publisher_[report->role]) return;
        bytes_.clear();
        wire::encode_fpm(report->fpm, bytes_);
        (void)publisher_[report->role]->send(bytes_);
    }

    void say_changes(TimePoint now) {
        for (const Role role : all_roles) {
            if (!has_role(options_.mode, role) || fleet_.serving(role) == said_[role]) continue;
            said_[role] = fleet_.serving(role);
            std::printf("fleet: at %4.1f s %lld %s replicas serve\n", seconds_of(now),
                        static_cast<long long>(said_[role].count()), std::string{to_string(role)}.c_str());
            std::fflush(stdout);
        }
    }

    // Waits for that long at most, or until a line has come.
    void read_commands(double seconds) {
        constexpr double ms_per_second = 1000.0;
        pollfd input{input_open_ ? STDIN_FILENO : -1, POLLIN, 0};
        const auto ms = static_cast<int>(std::min(seconds, 1.0) * ms_per_second);
        if (::poll(&input, 1, std::max(ms, 1)) <= 0) return;
        std::array<char, 4096> piece{};
        const auto n = ::read(STDIN_FILENO, piece.data(), piece.size());
        if (n <= 0) {
            input_open_ = false;
            return;
        }
        pending_.append(piece.data(), static_cast<std::size_t>(n));
        for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
            const std::string line = pending_.substr(0, end);
            pending_.erase(0, end + 1);
            if (const auto scale = parse_scale(line)) {
                fleet_.apply(*scale, elapsed(), ++commands_);
            } else {
                std::fprintf(stderr, "live_fleet: not understood: %s\n", line.c_str());
            }
        }
    }

    Options options_;
    sim::Fleet fleet_;
    zmq::context_t context_{1};
    PerRole<std::unique_ptr<bus::ZmqPublisher>> publisher_;
    PerRole<Replicas> said_;
    Clock::time_point started_;
    std::string bytes_;
    std::string pending_;
    DecisionId commands_ = -1;
    bool input_open_ = true;
};

int run(const Options& options) {
    const sim::FleetConfig config = fleet_of(options);
    const std::vector<std::string> wrong = sim::problems(config);
    for (const std::string& problem : wrong) std::fprintf(stderr, "live_fleet: %s\n", problem.c_str());
    if (!wrong.empty()) return 2;
    LiveFleet fleet{options, config};
    if (!fleet.bind()) return 1;
    if (!fleet.wait_for_reader()) {
        std::fprintf(stderr, "live_fleet: nobody listened within %g s\n", options.wait);
        return 4;
    }
    fleet.run();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app{"A simulated fleet that reports over ZeroMQ at the pace of the wall clock"};
    std::string shape{to_string(o.shape)};
    std::string mode{to_string(o.mode)};
    app.add_option("--shape", shape, "course of the load")
        ->check(CLI::IsMember({"constant", "ramp", "step", "spike", "diurnal", "onoff"}));
    app.add_option("--mode", mode, "what is deployed")
        ->check(CLI::IsMember({"disagg", "prefill", "decode", "agg"}));
    app.add_option("--replicas", o.replicas, "of each role at the start")->check(CLI::Range(1, 1000));
    app.add_option("--seconds", o.seconds, "length")->check(CLI::Range(0.1, 1e6));
    app.add_option("--rate", o.rate, "requests/s at the start")->check(CLI::Range(0.0, 1e5));
    app.add_option("--peak", o.peak, "requests/s at the top of the shape")->check(CLI::Range(0.0, 1e5));
    app.add_option("--from", o.from, "when the load begins to change, s")->check(CLI::Range(0.0, 1e6));
    app.add_option("--duration", o.duration, "how long it changes, s")->check(CLI::Range(0.0, 1e6));
    app.add_option("--startup", o.startup, "of a new replica, s")->check(CLI::Range(0.0, 1e5));
    app.add_option("--isl", o.isl, "mean prompt length, tokens")->check(CLI::Range(1.0, 30'000.0));
    app.add_option("--osl", o.osl, "mean answer length, tokens")->check(CLI::Range(1.0, 4'000.0));
    app.add_option("--seed", o.seed, "one seed gives the same requests");
    app.add_option("--wait", o.wait, "how long to wait for a reader, s")->check(CLI::Range(0.0, 1e5));
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    o.shape = *sim::shape_from(shape);
    for (const Mode m : {Mode::disagg, Mode::prefill, Mode::decode, Mode::agg}) {
        if (to_string(m) == mode) o.mode = m;
    }
    return run(o);
}
