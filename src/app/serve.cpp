#include "app/serve.hpp"

#include <csignal>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

#include <spdlog/spdlog.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/live_log.hpp"
#include "app/live_sources.hpp"
#include "app/live_store.hpp"
#include "app/serve_clock.hpp"
#include "app/serve_journal.hpp"
#include "app/serve_metrics.hpp"
#include "app/serve_parts.hpp"
#include "app/source_parts.hpp"
#include "app/version.hpp"
#include "net/access.hpp"
#include "net/http_server.hpp"
#include "runtime/api.hpp"
#include "runtime/decision_json.hpp"

namespace dynaplan::app {

namespace {

// Of SIGTERM to the end five seconds are promised; the rest is for the store and the journal.
constexpr std::chrono::milliseconds http_stop_bound{2000};
constexpr std::chrono::milliseconds journal_stop_bound{1500};

// Who holds the store, as others read it.
std::string identity() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    return std::string{host.data()} + " pid " + std::to_string(::getpid());
}

// Members stand in the order in which they start; they end in the reverse order.
class Program {
public:
    Program(const LoadedConfig& loaded, const ConfigRequest& request)
        : loaded_{loaded},
          config_{loaded_.config},
          request_{request},
          signals_{io_, SIGTERM, SIGINT, SIGHUP},
          wake_{io_} {}

    // Everything that can be refused is refused here, before the first decision.
    Result<void> open() {
        RestoredPlanner restored = restore_planner(config_);
        for (const std::string& remark : restored.remarks) spdlog::info("journal: {}", remark);
        clock_.emplace(restored.at);
        auto store = make_store(io_, config_, identity());
        if (!store) return tl::unexpected{store.error()};
        store_ = std::move(*store);
        restored.planner.resume(clock_->now());
        service_.emplace(std::move(restored.planner), coordinator_config(config_),
                         runtime::Service::Parts{*clock_, store_->store(), bus_counts_});
        auto journal = open_journal(loaded_, *service_, [this](std::function<void()> task) {
            boost::asio::post(io_, std::move(task));
        });
        if (!journal) return failure("journal.dir: " + journal.error().message);
        folder_ = std::move(*journal);
        if (folder_) service_->write_to(*folder_);
        if (auto served = open_http(); !served) return served;
        if (auto served = open_metrics(); !served) return served;
        auto sources = LiveSources::open(io_, config_, *service_, bus_counts_);
        if (!sources) return tl::unexpected{sources.error()};
        sources_ = std::move(*sources);
        around_.bus = sources_->bus();
        return {};
    }

    void run() {
        StoreCallbacks callbacks;
        callbacks.on_lead = [this](bool leads) { lead(leads); };
        callbacks.on_read = [this](const decision::ReadAnswer& answer) { service_->store_read(answer); };
        callbacks.on_commit = [this](const decision::CommitAnswer& answer) {
            service_->store_committed(answer);
        };
        callbacks.on_seen = [this](const decision::StoredState& seen) { service_->store_seen(seen); };
        store_->start(std::move(callbacks));
        service_->store_is_stale = [this] { return store_->stale(); };
        service_->on_change = [this] { after_change(); };
        service_->start(leads_);
        running_ = true;
        const auto changed = changed_fields(service_->planner().config(), config_.planner);
        if (!changed.empty()) reconfigure(changed);
        await_signal();
        arm();
        spdlog::info("dynaplan {} plans mode {} with preset {}; decisions, state and metrics: http://{}",
                     program_version, to_string(config_.planner.mode),
                     config_.planner.preset == Preset::dynamo ? "dynamo" : "dynaplan", around_.listen);
        io_.run();
        if (folder_ && !folder_->flush_and_close(journal_stop_bound))
            spdlog::warn("journal: not everything reached the disk: {}", folder_->state().reason);
        spdlog::info("stopped");
    }

private:
    [[nodiscard]] const port::Journal& journal() const {
        if (folder_) return *folder_;
        return no_journal_;
    }

    Result<void> open_http() {
        around_.store = store_->kind();
        around_.discovery = [this] { return sources_ ? sources_->discovery() : runtime::DiscoveryView{}; };
        around_.store_reason = [this] { return store_->reason(); };
        const auto listen = host_port(config_.http.listen);
        auto access = net::Access::create(listen ? listen->host : "127.0.0.1",
                                          config_.http.token_file.value_or(""), listen.has_value());
        if (!access) return failure(access.error().message);
        access_.emplace(std::move(*access));
        api_.emplace(runtime::Api::Parts{*service_, *access_, around_, bus_counts_, journal(),
                                         [this] { return metrics(); }});
        if (!listen) {
            around_.listen = "off";
            return {};
        }
        net::HttpServerOptions options;
        options.host = listen->host;
        options.port = static_cast<std::uint16_t>(listen->port);
        http_.emplace(io_, options, [this](net::HttpRequest request, net::Reply reply) {
            api_->handle(std::move(request), std::move(reply));
        });
        if (auto started = http_->start(); !started) return started;
        around_.listen = http_->address();
        return {};
    }

    // Dynamo's port for Prometheus: open to all, so that it shows nothing but health.
    Result<void> open_metrics() {
        if (config_.metrics.reporting_port <= 0) return {};
        net::HttpServerOptions options;
        options.host = "0.0.0.0";
        options.port = static_cast<std::uint16_t>(config_.metrics.reporting_port);
        metrics_http_.emplace(io_, options, [this](net::HttpRequest request, net::Reply reply) {
            api_->handle_health(std::move(request), std::move(reply));
        });
        if (auto started = metrics_http_->start(); !started)
            return failure("metric_reporting_prometheus_port: " + started.error().message);
        spdlog::info("metrics and health also on all addresses, port {}", options.port);
        return {};
    }

    [[nodiscard]] std::string metrics() const {
        return metrics_text({*service_, bus_counts_, around_.discovery(), journal(), api_->waiting()});
    }

    void lead(bool leads) {
        leads_ = leads;
        if (!running_) return;  // the service will be started so
        spdlog::info(leads ? "the store is ours: planning" : "leadership is lost: standing by");
        service_->lead(leads);
    }

    void after_change() {
        const decision::DecisionRecord* current = service_->coordinator().current();
        if (current != nullptr && current->decision_id != logged_) {
            logged_ = current->decision_id;
            spdlog::info("decision {}: {}", logged_, runtime::decision_json(*current));
        }
        if (service_->counts().stalls != stalls_seen_) {
            stalls_seen_ = service_->counts().stalls;
            spdlog::warn("this process stood still for more than {:g} s: engines are counted anew",
                         runtime::Service::stalled_after.count());
        }
        api_->published();
        arm();
    }

    // One timer for the core's wake-ups, the coordinator's deadlines and the clients that wait.
    void arm() {
        std::optional<TimePoint> next = service_->next_wake();
        if (const auto expiry = api_->next_expiry()) next = next ? std::min(*next, *expiry) : expiry;
        if (!next || (armed_ && *armed_ == *next)) return;
        armed_ = next;
        const Seconds delay = std::max(*next - clock_->now(), Seconds{0.0});
        wake_.expires_after(std::chrono::ceil<std::chrono::microseconds>(delay));
        wake_.async_wait([this](const boost::system::error_code& error) {
            if (error || stopping_) return;
            armed_.reset();
            api_->expire();
            if (const auto due = service_->next_wake(); due && *due <= clock_->now()) service_->wake();
            arm();
        });
    }

    void await_signal() {
        signals_.async_wait([this](const boost::system::error_code& error, int signal) {
            if (error) return;
            if (signal == SIGHUP) {
                reload();
                await_signal();
            } else {
                stop(signal);
            }
        });
    }
    void reload() {
        const LoadedConfig loaded = load_config(request_);
        for (const std::string& problem : loaded.problems) spdlog::error("configuration: {}", problem);
        if (!loaded.ok()) {
            spdlog::error("the configuration stays as it was");
            return;
        }
        reconfigure(changed_fields(service_->planner().config(), loaded.config.planner));
    }
    void reconfigure(std::vector<std::pair<std::string, FieldValue>> changed) {
        const std::size_t n = changed.size();
        if (auto taken = service_->reconfigure(std::move(changed)); !taken) {
            spdlog::error("{}; the configuration stays as it was", taken.error().message);
        } else {
            spdlog::info("configuration: {} fields changed", n);
        }
    }

    // Sources first, then the clients, then the store: what is under way is answered before.
    void stop(int signal) {
        spdlog::info("signal {}: stopping", signal);
        stopping_ = true;
        wake_.cancel();
        sources_.reset();
        if (metrics_http_) metrics_http_->stop(http_stop_bound, [] {});
        const auto release = [this] { store_->stop([this] { io_.stop(); }); };
        if (http_) {
            http_->stop(http_stop_bound, release);
        } else {
            release();
        }
    }

    LoadedConfig loaded_;
    const AppConfig& config_;
    ConfigRequest request_;
    boost::asio::io_context io_{1};
    std::optional<ServeClock> clock_;
    std::unique_ptr<LiveStore> store_;
    port::NullJournal no_journal_;
    port::BusCounts bus_counts_;
    runtime::Surroundings around_;
    std::optional<runtime::Service> service_;
    std::unique_ptr<observe::JournalFolder> folder_;
    std::optional<net::Access> access_;
    std::optional<runtime::Api> api_;
    std::optional<net::HttpServer> http_;
    std::optional<net::HttpServer> metrics_http_;
    std::unique_ptr<LiveSources> sources_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer wake_;
    std::optional<TimePoint> armed_;
    DecisionId logged_ = -1;
    std::uint64_t stalls_seen_ = 0;
    bool leads_ = false;
    bool running_ = false;
    bool stopping_ = false;
};

}  // namespace

int serve(const LoadedConfig& loaded, const ConfigRequest& request) {
    constexpr int wrong_usage = 2;
    // Both would end the program where it only has to note an error of write(): a log that nobody reads any
    // more, and a limit on the size of files, which for journal and store is a full disk like another.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    log_to_stderr();
    const std::vector<std::string> problems = source_problems(loaded.config);
    for (const std::string& problem : problems) spdlog::error("{}", problem);
    if (!problems.empty()) return wrong_usage;
    Program program{loaded, request};
    if (const auto opened = program.open(); !opened) {
        spdlog::error("{}", opened.error().message);
        return 1;
    }
    program.run();
    return 0;
}

}  // namespace dynaplan::app
