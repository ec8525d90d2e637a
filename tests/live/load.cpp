// A fleet of decode engines as the bus sees it, for measurements and fault tests: reports at an exact pace
// over ZeroMQ, in which nothing happens until a breach of the ITL target is asked for on standard input.
//
// Calm reports lie between the threshold below which the planner would shrink and the target (itl=40), so
// that it holds still. Growth needs all engines above the target: on `breach` every engine but the first goes
// over it with its next report, and once all have, the first one's is sent at once, out of its turn. So that
// single report is what the planner reacts to; the time written for it is when it was handed to ZeroMQ.
//
//     endpoint tcp://127.0.0.1:34561      one line for each publisher
//     started 512331000211                monotonic time in ns, once the readers are there
//     breach 512335220031                 answers to `breach` and `calm`
//     calm 512335410942
//     {"sent": ...}                       at the end: after --seconds, on `quit`, or at SIGTERM
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <zmq.hpp>

#include "bus/zmq_publisher.hpp"
#include "wire/fpm_encode.hpp"

namespace {

using namespace dynaplan;
using Clock = std::chrono::steady_clock;  // CLOCK_MONOTONIC, as time.monotonic_ns() of the drivers
using std::chrono::nanoseconds;

struct Options {
    std::uint64_t engines = 100;
    std::size_t publishers = 1;
    double rate = 20.0;
    double seconds = 0.0;
    int subscribers = 1;
    double wait_s = 30.0;
    bool drops = false;
    std::uint64_t first_worker = 1;
};

volatile std::sig_atomic_t told_to_end = 0;
void note_end(int) { told_to_end = 1; }

// Uniform in [0, 1): splitmix64 of its author's constants, so that report k of an engine is always the same.
double noise(std::uint64_t engine, std::uint64_t counter, std::uint64_t salt) {
    std::uint64_t z = (engine * 0x100000001b3U) ^ (counter << 20U) ^ salt;
    z += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    z ^= z >> 31U;
    return static_cast<double>(z >> 11U) * 0x1p-53;
}

// A pass takes 10 ms, 0.1 ms a request and 0.1 us a token of KV: calm about 36 ms (32 to 40 hold still under
// itl=40), in breach about 56 ms.
ForwardPass pass_of(std::uint64_t engine, std::uint64_t counter, bool breach) {
    constexpr double base_s = 0.010;
    constexpr double per_request_s = 0.0001;
    constexpr double per_token_s = 1e-7;
    ForwardPass p;
    p.counter_id = static_cast<std::int64_t>(counter);
    auto& s = p.scheduled;
    s.num_decode_requests = 60 + static_cast<std::int64_t>(8.0 * noise(engine, counter, 1));
    const double kv = (breach ? 394'000.0 : 190'000.0) + 12'000.0 * noise(engine, counter, 2);
    s.sum_decode_kv_tokens = static_cast<std::int64_t>(kv);
    s.var_decode_kv_tokens = 1.0e6;
    p.wall_time = base_s + per_request_s * static_cast<double>(s.num_decode_requests) + per_token_s * kv;
    return p;
}

class Fleet {
public:
    explicit Fleet(const Options& o) : o_{o}, counters_(o.engines, 0) {}

    Result<void> bind() {
        for (std::size_t i = 0; i < o_.publishers; ++i) {
            auto publisher = bus::ZmqPublisher::bind(context_, "tcp://127.0.0.1:*", o_.drops);
            if (!publisher) return failure(publisher.error().message);
            std::printf("endpoint %s\n", (*publisher)->endpoint().c_str());
            publishers_.push_back(std::move(*publisher));
        }
        std::fflush(stdout);
        return {};
    }
    bool has_readers() {
        return std::all_of(publishers_.begin(), publishers_.end(),
                           [this](const auto& p) { return p->subscribers() >= o_.subscribers; });
    }

    // The report whose turn it is.
    void send_next() {
        const std::uint64_t engine = turn_++ % o_.engines;
        send(engine, in_breach_ && (engine != 0 || spread()));
        if (in_breach_ && !announced_ && spread()) {
            announced_ = true;
            say("breach");
            send(0, true);
        }
    }
    void breach() {
        if (in_breach_) return;
        in_breach_ = true;
        announced_ = false;
        since_ = turn_;
    }
    // The first engine's calm report comes first: from then on no breach is everywhere.
    void calm() {
        if (!in_breach_) return;
        in_breach_ = false;
        say("calm");
        send(0, false);
    }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

private:
    // Every engine but the first has reported since the breach was asked for.
    [[nodiscard]] bool spread() const { return turn_ - since_ >= o_.engines || o_.engines == 1; }
    static void say(const char* what) {
        std::printf("%s %lld\n", what,
                    static_cast<long long>(nanoseconds{Clock::now().time_since_epoch()}.count()));
        std::fflush(stdout);
    }
    void send(std::uint64_t engine, bool breach) {
        Fpm fpm;
        fpm.worker_id = std::to_string(o_.first_worker + engine);
        fpm.pass = pass_of(engine, ++counters_[engine], breach);
        bytes_.clear();
        wire::encode_fpm(fpm, bytes_);
        // An engine does not wait for its readers: what finds no room is lost, and seen as a gap.
        if (publishers_[engine % publishers_.size()]->send(bytes_)) {
            ++sent_;
        } else {
            ++dropped_;
        }
    }

    const Options& o_;
    zmq::context_t context_{1};
    std::vector<std::unique_ptr<bus::ZmqPublisher>> publishers_;
    std::vector<std::uint64_t> counters_;
    std::string bytes_;
    std::uint64_t turn_ = 0;
    std::uint64_t since_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t dropped_ = 0;
    bool in_breach_ = false;
    bool announced_ = false;
};

// Lines of standard input as they come, and the wait between two reports.
class Commands {
public:
    // Waits until `due` or until something was written; false when there is a line to be taken.
    bool wait(Clock::time_point due) {
        const auto left = std::max(nanoseconds{due - Clock::now()}, nanoseconds{0});
        const timespec limit{static_cast<time_t>(left.count() / 1'000'000'000),
                             static_cast<long>(left.count() % 1'000'000'000)};
        pollfd input{closed_ ? -1 : STDIN_FILENO, POLLIN, 0};
        if (::ppoll(&input, 1, &limit, nullptr) <= 0 || input.revents == 0) return true;
        char piece[256];
        const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
        if (n <= 0) {
            closed_ = true;
        } else {
            text_.append(piece, static_cast<std::size_t>(n));
        }
        return false;
    }
    bool next(std::string& line) {
        const auto end = text_.find('\n');
        if (end == std::string::npos) return false;
        line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return true;
    }
    [[nodiscard]] bool closed() const { return closed_; }

private:
    std::string text_;
    bool closed_ = false;
};

// How late reports were sent. Buckets of a microsecond; the last one holds all that is later.
class Lateness {
public:
    void add(nanoseconds late) {
        const auto us = static_cast<std::size_t>(std::max<long long>(late.count(), 0) / 1000);
        ++buckets_[std::min(us, buckets_.size() - 1)];
        ++n_;
        most_ = std::max(most_, us);
    }
    [[nodiscard]] std::size_t quantile_us(double q) const {
        std::uint64_t seen = 0;
        for (std::size_t us = 0; us < buckets_.size(); ++us) {
            seen += buckets_[us];
            if (static_cast<double>(seen) >= q * static_cast<double>(n_)) return us;
        }
        return most_;
    }
    [[nodiscard]] std::size_t most_us() const { return most_; }

private:
    std::vector<std::uint64_t> buckets_ = std::vector<std::uint64_t>(100'001);
    std::uint64_t n_ = 0;
    std::size_t most_ = 0;
};

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

bool wait_for_readers(Fleet& fleet, Commands& commands, const Options& o) {
    constexpr std::chrono::milliseconds look_again{5};
    const auto deadline = Clock::now() + std::chrono::duration<double>{o.wait_s};
    while (!fleet.has_readers()) {
        if (told_to_end != 0 || commands.closed() || Clock::now() >= deadline) return false;
        commands.wait(Clock::now() + look_again);
    }
    return true;
}

// False: standard input said `quit`, or something that is no command.
bool obey(Fleet& fleet, Commands& commands) {
    for (std::string line; commands.next(line);) {
        if (line == "breach") {
            fleet.breach();
        } else if (line == "calm") {
            fleet.calm();
        } else {
            if (line != "quit") std::fprintf(stderr, "live_load: '%s': breach, calm or quit\n", line.c_str());
            return false;
        }
    }
    return true;
}

int run(const Options& o) {
    constexpr int timed_out = 4;
    Fleet fleet{o};
    if (const auto bound = fleet.bind(); !bound) {
        std::fprintf(stderr, "live_load: %s\n", bound.error().message.c_str());
        return 1;
    }
    Commands commands;
    if (!wait_for_readers(fleet, commands, o)) {
        std::fprintf(stderr, "live_load: no reader connected within %g s\n", o.wait_s);
        return timed_out;
    }
    Lateness lateness;
    const auto started = Clock::now();
    std::printf("started %lld\n", static_cast<long long>(nanoseconds{started.time_since_epoch()}.count()));
    std::fflush(stdout);
    const double interval_ns = 1e9 / (static_cast<double>(o.engines) * o.rate);
    const auto total = static_cast<std::uint64_t>(o.seconds * static_cast<double>(o.engines) * o.rate);
    for (std::uint64_t i = 0; total == 0 || i < total;) {
        // A driver that has died cannot end us any more.
        if (told_to_end != 0 || (total == 0 && commands.closed())) break;
        const auto due = started + nanoseconds{static_cast<long long>(static_cast<double>(i) * interval_ns)};
        if (!commands.wait(due) && !obey(fleet, commands)) break;
        const auto now = Clock::now();
        if (now < due) continue;
        lateness.add(now - due);
        fleet.send_next();
        ++i;
    }
    const std::chrono::duration<double> took = Clock::now() - started;
    std::printf(
        "{\"engines\": %llu, \"publishers\": %zu, \"sent\": %llu, \"dropped\": %llu, \"seconds\": %.3f, "
        "\"late_p50_us\": %zu, \"late_p99_us\": %zu, \"late_most_us\": %zu, \"cpu_s\": %.3f}\n",
        static_cast<unsigned long long>(o.engines), o.publishers,
        static_cast<unsigned long long>(fleet.sent()), static_cast<unsigned long long>(fleet.dropped()),
        took.count(), lateness.quantile_us(0.5), lateness.quantile_us(0.99), lateness.most_us(),
        processor_seconds());
    std::fflush(stdout);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options o;
    CLI::App app{"A fleet of decode engines on the bus that holds still until a breach is asked for"};
    app.add_option("--engines", o.engines, "how many report")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--publishers", o.publishers, "sockets that they share, in turn")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--rate", o.rate, "reports a second of each")
        ->check(CLI::Range(0.001, 10'000.0))
        ->capture_default_str();
    app.add_option("--seconds", o.seconds, "how long; 0: until `quit` or the end of standard input")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    app.add_option("--subscribers", o.subscribers, "readers of each publisher to wait for")
        ->check(CLI::Range(0, 100))
        ->capture_default_str();
    app.add_option("--wait", o.wait_s, "how long to wait for them, s")->capture_default_str();
    app.add_option("--first-worker", o.first_worker, "worker_id of the first engine")->capture_default_str();
    app.add_flag(
        "--drops", o.drops,
        "each reader loses for itself what it is too slow for, unseen; else nobody gets it, counted");
    CLI11_PARSE(app, argc, argv);
    std::signal(SIGTERM, note_end);
    std::signal(SIGINT, note_end);
    ::prctl(PR_SET_TIMERSLACK, 1000UL);  // ns; the default of 50 us is longer than some intervals
    return run(o);
}
