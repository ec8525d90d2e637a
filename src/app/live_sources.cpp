#include "app/live_sources.hpp"

#include <utility>

#include <sys/resource.h>

#include <spdlog/spdlog.h>
#include <zmq.hpp>

#include "app/live_etcd.hpp"
#include "app/source_parts.hpp"
#include "bus/broker_plane.hpp"
#include "bus/engine_hop.hpp"
#include "bus/event_plane.hpp"
#include "bus/nats_adapter.hpp"
#include "discovery/etcd_backend.hpp"
#include "discovery/file_backend.hpp"
#include "discovery/roster.hpp"
#include "discovery/static_list.hpp"

namespace dynaplan::app {

namespace {

// Discovery begins before the bus that it feeds: what it finds until then is kept.
class ChannelRelay final : public port::ChannelSink {
public:
    void channel_added(const port::Channel& channel) override {
        if (to_ != nullptr) {
            to_->channel_added(channel);
        } else {
            early_.push_back(channel);
        }
    }
    void channel_removed(std::string_view key) override {
        if (to_ != nullptr) {
            to_->channel_removed(key);
        } else {
            std::erase_if(early_, [key](const port::Channel& c) { return c.key == key; });
        }
    }
    void connect(port::ChannelSink& to) {
        to_ = &to;
        for (const port::Channel& channel : std::exchange(early_, {})) to.channel_added(channel);
    }

private:
    port::ChannelSink* to_ = nullptr;
    std::vector<port::Channel> early_;
};

// Each socket takes descriptors, and the usual soft limit of 1,024 is for programs that use select().
void raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

class Sources final : public LiveSources {
public:
    Sources(boost::asio::io_context& io, const AppConfig& config, port::EventSink& sink,
            port::BusCounts& counts)
        : io_{io}, config_{config}, sink_{sink}, counts_{counts} {
        // A publisher takes three sockets; ZeroMQ's default of 1,023 would end at some 340 of them.
        constexpr int sockets_most = 65'535;
        zmq_.set(zmq::ctxopt::max_sockets, sockets_most);
        raise_file_limit();
    }

    Result<void> open() {
        if (auto opened = open_discovery(); !opened) return opened;
        return open_bus();
    }
    [[nodiscard]] std::string bus() const override { return bus_; }
    [[nodiscard]] runtime::DiscoveryView discovery() const override {
        runtime::DiscoveryView view;
        view.backend = discovery_word(config_.discovery.backend);
        if (roster_) {
            discovery::RosterState state = roster_->state();
            view.workers = state.workers;
            view.remarks = std::move(state.remarks);
            view.refused = roster_->counts().refused;
        } else if (static_) {
            view.workers = static_->workers();
        }
        view.stale = source_.stale && roster_ != nullptr;
        view.reason = source_.reason;
        return view;
    }

private:
    [[nodiscard]] const port::WorkerDirectory* directory() const {
        if (roster_) return roster_.get();
        return static_ ? static_->directory() : nullptr;
    }

    Result<void> open_discovery() {
        switch (config_.discovery.backend) {
            case DiscoveryBackend::engines: return {};
            case DiscoveryBackend::static_list: {
                const auto workers = static_workers(config_);
                if (auto checked = discovery::StaticList::check(workers); !checked) return checked;
                static_ = std::make_unique<discovery::StaticList>(workers, sink_, nullptr);
                return {};
            }
            case DiscoveryBackend::file:
            case DiscoveryBackend::etcd: break;
        }
        auto scope = discovery_scope(config_);
        if (!scope) return tl::unexpected{scope.error()};
        discovery::RosterOptions options;
        options.scope = std::move(*scope);
        options.on_remark = [](const std::string& remark) { spdlog::warn("{}", remark); };
        options.on_brokers = [this](const std::vector<std::string>& urls) { brokers_changed(urls); };
        const bool connects = bus_kind(config_) == BusKind::event_direct;
        roster_ =
            std::make_unique<discovery::Roster>(std::move(options), sink_, connects ? &relay_ : nullptr);
        const auto on_state = [this](const discovery::SourceState& state) { source_changed(state); };
        if (config_.discovery.backend == DiscoveryBackend::file) {
            discovery::FileBackendOptions file;
            file.root = discovery_root(config_);
            file.on_state = on_state;
            file_ = std::make_unique<discovery::FileBackend>(io_, std::move(file), *roster_);
            return {};
        }
        auto client = net::EtcdClient::create(io_, etcd_options(config_));
        if (!client) return failure("etcd: " + client.error().message);
        etcd_client_ = std::make_unique<net::EtcdClient>(std::move(*client));
        discovery::EtcdBackendOptions etcd;
        etcd.random = random_part;
        etcd.on_state = on_state;
        etcd_ = std::make_unique<discovery::EtcdBackend>(io_, *etcd_client_, std::move(etcd), *roster_);
        return {};
    }

    Result<void> open_bus() {
        bus_ = std::string{to_string(bus_kind(config_))};
        switch (bus_kind(config_)) {
            case BusKind::engine_hop: {
                auto hop =
                    bus::EngineHop::open(io_, zmq_, hop_endpoints(config_), sink_, counts_, directory());
                if (!hop) return tl::unexpected{hop.error()};
                hop_ = std::move(*hop);
                return {};
            }
            case BusKind::event_direct: {
                auto plane =
                    bus::EventPlane::open(io_, zmq_, event_endpoints(config_), sink_, counts_, directory());
                if (!plane) return tl::unexpected{plane.error()};
                event_ = std::move(*plane);
                relay_.connect(*event_);
                return {};
            }
            case BusKind::event_broker: {
                auto urls = broker_urls(config_);
                if (!urls) return tl::unexpected{urls.error()};
                listens_ = true;
                return open_broker(urls->empty() ? found_brokers_ : *urls);
            }
            case BusKind::nats: break;
        }
        auto plane = nats_plane(config_);
        if (!plane) return tl::unexpected{plane.error()};
        auto nats = bus::NatsAdapter::open(io_, *plane, sink_, counts_, directory());
        if (!nats) return tl::unexpected{nats.error()};
        nats_ = std::move(*nats);
        for (const std::string& warning : nats_->warnings()) spdlog::warn("bus: {}", warning);
        return {};
    }

    Result<void> open_broker(const std::vector<std::string>& urls) {
        broker_.reset();
        if (urls.empty()) return {};  // discovery has found none yet
        auto options = broker_options(config_, urls);
        if (!options) return tl::unexpected{options.error()};
        auto broker = bus::BrokerPlane::open(io_, zmq_, *options, sink_, counts_, directory());
        if (!broker) return tl::unexpected{broker.error()};
        broker_ = std::move(*broker);
        return {};
    }
    void brokers_changed(const std::vector<std::string>& urls) {
        found_brokers_ = urls;
        if (!listens_ || config_.bus.broker) return;
        spdlog::info("discovery: {} addresses of brokers", urls.size());
        if (const auto opened = open_broker(urls); !opened) spdlog::error("{}", opened.error().message);
    }
    void source_changed(const discovery::SourceState& state) {
        if (state.stale && !state.reason.empty() && state.reason != source_.reason)
            spdlog::warn("discovery: {}; the workers known so far stay", state.reason);
        if (!state.stale && source_.stale) spdlog::info("discovery: up to date");
        source_ = state;
    }

    boost::asio::io_context& io_;
    const AppConfig& config_;
    port::EventSink& sink_;
    port::BusCounts& counts_;
    std::string bus_;
    zmq::context_t zmq_{1};
    ChannelRelay relay_;
    discovery::SourceState source_;
    std::unique_ptr<discovery::Roster> roster_;
    std::unique_ptr<discovery::StaticList> static_;
    std::unique_ptr<discovery::FileBackend> file_;
    std::unique_ptr<net::EtcdClient> etcd_client_;
    std::unique_ptr<discovery::EtcdBackend> etcd_;
    std::unique_ptr<bus::EngineHop> hop_;
    std::unique_ptr<bus::EventPlane> event_;
    std::unique_ptr<bus::BrokerPlane> broker_;
    std::unique_ptr<bus::NatsAdapter> nats_;
    std::vector<std::string> found_brokers_;
    bool listens_ = false;
};

}  // namespace

Result<std::unique_ptr<LiveSources>> LiveSources::open(boost::asio::io_context& io, const AppConfig& config,
                                                       port::EventSink& sink, port::BusCounts& counts) {
    auto sources = std::make_unique<Sources>(io, config, sink, counts);
    if (auto opened = sources->open(); !opened) return tl::unexpected{opened.error()};
    return std::unique_ptr<LiveSources>{std::move(sources)};
}

}  // namespace dynaplan::app
