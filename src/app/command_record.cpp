#include "app/command_record.hpp"

#include <csignal>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/command_replay_job.hpp"
#include "app/config_flags.hpp"
#include "app/files.hpp"
#include "app/live_log.hpp"
#include "app/live_sources.hpp"
#include "app/serve_clock.hpp"
#include "app/serve_parts.hpp"
#include "app/source_parts.hpp"
#include "app/version.hpp"
#include "decision/memory_store.hpp"
#include "runtime/service.hpp"
#include "wire/journal_writer.hpp"

namespace dynaplan::app {

namespace {

constexpr int wrong_usage = 2;
constexpr std::size_t piece_bytes = std::size_t{1} << 20U;
constexpr std::chrono::milliseconds write_every{200};

struct RecordOptions {
    std::string out;
    double seconds = 0.0;       // 0: until it is told to stop
    std::uint64_t reports = 0;  // likewise
};

// One file, written in pieces. A recording that cannot be written is worth nothing: the first failure ends
// it.
class RecordingFile final : public port::Journal {
public:
    explicit RecordingFile(OutputFile file) : file_{std::move(file)} {}

    void begin(const runtime::Checkpoint& state, std::string config_json, std::int64_t wall_ms) {
        writer_.append_header(bytes_, {0, wall_ms, std::string{program_version}, std::move(config_json)});
        writer_.append_checkpoint(bytes_, state.at, state.planner, state.coordinator);
    }
    void append_event(const Event& event) override {
        writer_.append_event(bytes_, event);
        ++events_;
        if (bytes_.size() >= piece_bytes) write();
    }
    void append_effect(const Effect& effect) override { writer_.append_effect(bytes_, effect); }
    [[nodiscard]] port::JournalState state() const override { return {!trouble_.empty(), trouble_}; }
    [[nodiscard]] std::uint64_t dropped() const override { return 0; }

    bool write() {
        if (trouble_.empty() && !bytes_.empty()) {
            if (const auto written = file_.write(bytes_); !written) trouble_ = written.error().message;
        }
        bytes_.clear();
        return trouble_.empty();
    }
    bool close() {
        if (!write()) return false;
        if (const auto closed = file_.close(); !closed) trouble_ = closed.error().message;
        return trouble_.empty();
    }
    [[nodiscard]] std::uint64_t events() const { return events_; }

private:
    OutputFile file_;
    wire::JournalWriter writer_;
    std::string bytes_;
    std::uint64_t events_ = 0;
    std::string trouble_;
};

// The planner runs along in the shadow, each decision acknowledged at once: so the recording begins with a
// whole state, can be verified, and shows what would have been decided.
class Recorder {
public:
    Recorder(const LoadedConfig& loaded, const RecordOptions& options, OutputFile file)
        : loaded_{loaded},
          options_{options},
          file_{std::move(file)},
          service_{plan::Planner{loaded.config.planner},
                   coordinator_config(loaded.config),
                   {clock_, store_, counts_}} {}

    Result<void> open() {
        file_.begin(service_.checkpoint(), header_config(loaded_), clock_.wall_ms());
        service_.write_to(file_);
        auto sources = LiveSources::open(io_, loaded_.config, service_, counts_);
        if (!sources) return tl::unexpected{sources.error()};
        sources_ = std::move(*sources);
        return {};
    }

    int run() {
        service_.on_change = [this] { after_change(); };
        service_.start(true);
        signals_.async_wait([this](const boost::system::error_code& error, int) {
            if (!error) io_.stop();
        });
        if (options_.seconds > 0.0) {
            end_.expires_after(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                std::chrono::duration<double>{options_.seconds}));
            end_.async_wait([this](const boost::system::error_code& error) {
                if (!error) io_.stop();
            });
        }
        write_on();
        arm();
        spdlog::info("recording {} into {}; Ctrl-C ends it", sources_->bus(), options_.out);
        io_.run();
        sources_.reset();
        if (!file_.close()) {
            spdlog::error("{}", file_.state().reason);
            return 1;
        }
        std::printf("%s: %llu events, %llu of them reports (%llu messages refused, %llu lost on the way)\n",
                    options_.out.c_str(), static_cast<unsigned long long>(file_.events()),
                    static_cast<unsigned long long>(counts_.decoded),
                    static_cast<unsigned long long>(counts_.received - counts_.decoded),
                    static_cast<unsigned long long>(counts_.gaps));
        return 0;
    }

private:
    void after_change() {
        if (const decision::DecisionRecord* open = service_.coordinator().open())
            service_.complete(open->decision_id, [](const decision::Settlement&) {});
        if (options_.reports > 0 && counts_.decoded >= options_.reports) io_.stop();
        arm();
    }
    void arm() {
        const auto next = service_.next_wake();
        if (!next || (armed_ && *armed_ == *next)) return;
        armed_ = next;
        const Seconds delay = std::max(*next - clock_.now(), Seconds{0.0});
        wake_.expires_after(std::chrono::ceil<std::chrono::microseconds>(delay));
        wake_.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            armed_.reset();
            service_.wake();
        });
    }
    void write_on() {
        write_.expires_after(write_every);
        write_.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            if (file_.write()) {
                write_on();
            } else {
                io_.stop();
            }
        });
    }

    const LoadedConfig& loaded_;
    const RecordOptions& options_;
    boost::asio::io_context io_{1};
    ServeClock clock_;
    decision::MemoryStore store_;
    port::BusCounts counts_;
    RecordingFile file_;
    runtime::Service service_;
    std::unique_ptr<LiveSources> sources_;
    boost::asio::signal_set signals_{io_, SIGINT, SIGTERM};
    boost::asio::steady_timer wake_{io_};
    boost::asio::steady_timer write_{io_};
    boost::asio::steady_timer end_{io_};
    std::optional<TimePoint> armed_;
};

int run_record(const ConfigFlags& flags, const RecordOptions& options) {
    log_to_stderr();
    for (const std::string& warning : flags.warnings()) spdlog::warn("{}", warning);
    const LoadedConfig loaded = load_config(flags.request(process_environment(), false));
    for (const std::string& warning : loaded.warnings) spdlog::warn("{}", warning);
    for (const std::string& problem : loaded.problems) spdlog::error("{}", problem);
    if (!loaded.ok()) return wrong_usage;
    const std::vector<std::string> problems = source_problems(loaded.config);
    for (const std::string& problem : problems) spdlog::error("{}", problem);
    if (!problems.empty()) return wrong_usage;
    auto file = OutputFile::create(options.out);
    if (!file) {
        spdlog::error("{}", file.error().message);
        return 1;
    }
    Recorder recorder{loaded, options, std::move(*file)};
    if (const auto opened = recorder.open(); !opened) {
        spdlog::error("{}", opened.error().message);
        return 1;
    }
    return recorder.run();
}

}  // namespace

void add_record_command(CLI::App& app, int& exit_code) {
    CLI::App* command =
        app.add_subcommand("record", "Write what a fleet reports into a journal file, to be replayed");
    const auto flags = std::make_shared<ConfigFlags>();
    const auto options = std::make_shared<RecordOptions>();
    flags->add_to(*command, true);
    command->add_option("--out", options->out, "file to write")->required();
    command->add_option("--seconds", options->seconds, "end after so long; 0: at SIGINT or SIGTERM")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
    command->add_option("--reports", options->reports, "end after so many reports; 0: likewise")
        ->capture_default_str();
    command->footer(
        "Listens as serve does (bus and discovery of the configuration), decides nothing for the fleet and "
        "needs no store.\n"
        "The file begins with the planner's state and holds what it would have decided, each decision "
        "acknowledged at once.\n"
        "Example:\n"
        "  dynaplan record --config planner.yaml --out run.journal --seconds 3600\n"
        "  dynaplan replay run.journal --set ttft=400");
    command->callback([flags, options, &exit_code] { exit_code = run_record(*flags, *options); });
}

}  // namespace dynaplan::app
