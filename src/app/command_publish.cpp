#include "app/command_publish.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/files.hpp"
#include "app/publish_outlet.hpp"
#include "wire/fpm_encode.hpp"
#include "wire/fpm_trace_reader.hpp"

namespace dynaplan::app {

namespace {

struct PublishOptions {
    std::vector<std::string> files;
    OutletRequest outlet;
    std::string era = "august";
    std::string component;
    double speed = 1.0;  // 0: as fast as the readers take it
    int subscribers = 1;
    double wait_s = 30.0;
};

constexpr std::chrono::milliseconds look_again{5};

// Sends records at their times, the first one at once.
class Sender {
public:
    Sender(Outlet& outlet, const PublishOptions& options) : outlet_{outlet}, options_{options} {}

    // Fails where the bus is lost.
    Result<void> take(const wire::TraceRecord& record) {
        if (!options_.component.empty() && record.component != options_.component) {
            ++left_out_;
            return {};
        }
        keep_pace(record.observed_at_unix_ms);
        bytes_.clear();
        wire::encode_fpm(record.fpm, bytes_);
        for (;;) {
            const auto sent = outlet_.send(record.component, bytes_, wall_ms());
            if (!sent) return tl::unexpected{sent.error()};
            if (*sent) break;
            if (interrupted()) return {};  // a reader is behind: nothing is dropped
            std::this_thread::sleep_for(look_again);
        }
        ++sent_;
        return {};
    }
    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
    static std::int64_t wall_ms() {
        const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
    }
    void keep_pace(std::int64_t at_ms) {
        using std::chrono::steady_clock;
        if (options_.speed <= 0.0) return;
        if (sent_ == 0) {
            first_ms_ = at_ms;
            started_ = steady_clock::now();
        }
        const std::chrono::duration<double, std::milli> after{static_cast<double>(at_ms - first_ms_) /
                                                              options_.speed};
        const auto due = started_ + std::chrono::duration_cast<steady_clock::duration>(after);
        while (steady_clock::now() < due && !interrupted())
            std::this_thread::sleep_for(
                std::min<steady_clock::duration>(due - steady_clock::now(), std::chrono::milliseconds{100}));
    }

    Outlet& outlet_;
    const PublishOptions& options_;
    std::string bytes_;
    std::int64_t first_ms_ = 0;
    std::chrono::steady_clock::time_point started_;
    std::uint64_t sent_ = 0;
    std::uint64_t left_out_ = 0;
};

bool wait_for_readers(Outlet& outlet, const PublishOptions& options) {
    if (!outlet.tells_readers()) return true;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>{options.wait_s};
    while (outlet.readers() < options.subscribers) {
        if (interrupted() || std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

// The number of lines that could not be used; a file that cannot be read at all is an error.
Result<std::uint64_t> publish_file(const std::string& path, Sender& sender) {
    auto input = InputFile::open(path);
    if (!input) return failure(input.error().message);
    wire::TraceReader reader;
    std::uint64_t refused = 0;
    for (bool ended = false; !ended && !interrupted();) {
        const auto piece = input->read();
        if (!piece) return failure(piece.error().message);
        piece->empty() ? reader.finish() : reader.feed(*piece);
        using Step = wire::TraceReader::Step;
        for (bool more = true; more && !interrupted();) {
            switch (reader.next()) {
                case Step::record:
                    if (const auto taken = sender.take(reader.record()); !taken)
                        return tl::unexpected{taken.error()};
                    break;
                case Step::other: break;  // lines of the step protocol are not for a bus
                case Step::refused: ++refused; break;
                case Step::need_more: more = false; break;
                case Step::end:
                    more = false;
                    ended = true;
                    break;
            }
        }
    }
    refused += reader.counts().damages;
    return refused;
}

int run_publish(const PublishOptions& options) {
    constexpr int interrupted_work = 130;
    constexpr int timed_out = 4;
    watch_interrupt();
    const auto outlet = open_outlet(options.outlet);
    if (!outlet) {
        std::fprintf(stderr, "publish: %s\n", outlet.error().message.c_str());
        return 1;
    }
    std::printf("publishing on %s\n", (*outlet)->where().c_str());
    std::fflush(stdout);
    if (!wait_for_readers(**outlet, options)) {
        if (interrupted()) return interrupted_work;
        std::fprintf(stderr, "publish: no reader connected within %g s: is bus.endpoints of serve %s?\n",
                     options.wait_s, (*outlet)->where().c_str());
        return timed_out;
    }
    Sender sender{**outlet, options};
    int code = 0;
    for (const std::string& path : expand_paths(options.files)) {
        const Result<std::uint64_t> refused = publish_file(path, sender);
        if (!refused) {
            std::fprintf(stderr, "publish: %s\n", refused.error().message.c_str());
            code = 1;
        } else if (*refused > 0) {
            std::fprintf(stderr, "publish: %s: %llu lines or pieces could not be used\n", path.c_str(),
                         static_cast<unsigned long long>(*refused));
        }
    }
    if (const auto finished = (*outlet)->finish(); !finished) {
        std::fprintf(stderr, "publish: %s\n", finished.error().message.c_str());
        code = 1;
    }
    std::printf("published %llu reports%s\n", static_cast<unsigned long long>(sender.sent()),
                sender.left_out() > 0
                    ? (", left out " + std::to_string(sender.left_out()) + " of other components").c_str()
                    : "");
    return interrupted() ? interrupted_work : code;
}

}  // namespace

void add_publish_command(CLI::App& app, int& exit_code) {
    CLI::App* command = app.add_subcommand("publish", "Feed a recording onto a bus, as engines would");
    const auto options = std::make_shared<PublishOptions>();
    command
        ->add_option("FILE", options->files, "FPM traces, plain or gzip; several are sent one after another")
        ->required();
    OutletRequest& outlet = options->outlet;
    command->add_option("--bus", outlet.bus, "onto which bus")
        ->check(CLI::IsMember({"zmq", "nats"}))
        ->capture_default_str();
    command
        ->add_option("--plane", outlet.plane,
                     "zmq: engine, the three frames of an engine, or event, the four of Dynamo's event plane")
        ->check(CLI::IsMember({"engine", "event"}))
        ->capture_default_str();
    command->add_option("--bind", outlet.bind, "zmq: where readers connect; port * takes any free one")
        ->capture_default_str();
    command->add_option("--broker", outlet.broker,
                        "zmq, plane event: through brokers, xsub=URL[;URL...],xpub=URL[;URL...]");
    command->add_option("--server", outlet.nats.server, "nats: the server")
        ->envname("NATS_SERVER")
        ->capture_default_str();
    command->add_option("--user", outlet.nats.login.user, "nats: user")->envname("NATS_AUTH_USERNAME");
    command->add_option("--password", outlet.nats.login.password, "nats: password")
        ->envname("NATS_AUTH_PASSWORD");
    command->add_option("--token", outlet.nats.login.token, "nats: token")->envname("NATS_AUTH_TOKEN");
    command->add_option("--credentials", outlet.nats.login.credentials_file, "nats: credentials file")
        ->envname("NATS_AUTH_CREDENTIALS_FILE");
    command->add_option("--tls-ca", outlet.nats.tls_ca_path, "nats: certificates to trust, for tls://")
        ->envname("NATS_TLS_CA_CERT_PATH");
    command->add_option("--namespace", outlet.name_space, "Dynamo namespace, for subjects and routing keys")
        ->envname("DYN_NAMESPACE")
        ->capture_default_str();
    command->add_option("--era", options->era, "whose subjects and routing keys")
        ->check(CLI::IsMember({"april", "august"}))
        ->capture_default_str();
    command->add_option("--component", options->component,
                        "only reports of this component (prefill, backend)");
    command
        ->add_option("--speed", options->speed, "times the recorded pace; 0: as fast as the readers take it")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    command->add_option("--subscribers", options->subscribers, "readers to wait for before the first report")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command->add_option("--wait", options->wait_s, "how long to wait for them, s")->capture_default_str();
    command->footer(
        "A recording's component (prefill, backend) gives the subject on NATS and the routing key of "
        "brokers.\n"
        "Examples:\n"
        "  dynaplan publish trace.jsonl.gz --bus nats --server nats://127.0.0.1:4222\n"
        "  dynaplan publish trace.jsonl.gz --bind tcp://127.0.0.1:20380 --component backend --speed 10");
    command->callback([options, &exit_code] {
        options->outlet.era = options->era == "april" ? wire::Era::april : wire::Era::august;
        exit_code = run_publish(*options);
    });
}

}  // namespace dynaplan::app
