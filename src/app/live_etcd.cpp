#include "app/live_etcd.hpp"

#include <chrono>
#include <random>
#include <utility>

#include <spdlog/spdlog.h>

#include "connector/etcd_leader.hpp"
#include "connector/etcd_store.hpp"
#include "net/etcd_client.hpp"

namespace dynaplan::app {

namespace {

// The lease is given back at a stop, so that the next one need not wait for its end.
constexpr std::chrono::milliseconds release_bound{1000};

class LiveEtcdStore final : public LiveStore {
public:
    LiveEtcdStore(boost::asio::io_context& io, net::EtcdClient client, const AppConfig& config,
                  const std::string& identity)
        : client_{std::move(client)},
          leader_{io, client_, leader_options(config, identity), random_part, leader_callbacks()},
          store_{io, client_, store_options(config), random_part, store_callbacks()} {}

    decision::DecisionStore& store() override { return store_; }
    [[nodiscard]] std::string_view kind() const override { return "etcd"; }
    [[nodiscard]] std::string reason() const override {
        if (!watch_trouble_.empty()) return watch_trouble_;
        if (!leads_) {
            if (!leader_trouble_.empty()) return leader_trouble_;
            return leader_.holder().empty() ? "nobody leads yet" : "led by " + leader_.holder();
        }
        return store_.trouble();
    }
    [[nodiscard]] bool stale() const override { return store_.stale(); }
    void start(StoreCallbacks callbacks) override {
        callbacks_ = std::move(callbacks);
        store_.start();
        leader_.start();
    }
    void stop(std::function<void()> done) override {
        stopping_ = true;
        leader_.release(release_bound, std::move(done));
    }

private:
    static connector::EtcdLeaderOptions leader_options(const AppConfig& config, const std::string& identity) {
        connector::EtcdLeaderOptions options;
        options.name_space = config.deployment.dynamo_namespace;
        options.identity = identity;
        options.ttl = std::chrono::seconds{static_cast<std::int64_t>(config.etcd.lease_ttl.count())};
        return options;
    }
    connector::EtcdStoreOptions store_options(const AppConfig& config) {
        connector::EtcdStoreOptions options;
        options.name_space = config.deployment.dynamo_namespace;
        options.fence = [this] { return leader_.fence(); };
        return options;
    }

    connector::EtcdLeader::Callbacks leader_callbacks() {
        connector::EtcdLeader::Callbacks callbacks;
        callbacks.on_lead = [this](bool leads, const std::string& why) {
            leads_ = leads;
            leader_trouble_.clear();
            if (!leads && !why.empty()) spdlog::warn("decisions: {}", why);
            if (!stopping_) callbacks_.on_lead(leads);
        };
        callbacks.on_trouble = [this](const std::string& what) {
            if (what != leader_trouble_) spdlog::warn("decisions: {}", what);
            leader_trouble_ = what;
        };
        return callbacks;
    }
    connector::EtcdStore::Callbacks store_callbacks() {
        connector::EtcdStore::Callbacks callbacks;
        callbacks.on_read = [this](const decision::ReadAnswer& answer) {
            remark();
            callbacks_.on_read(answer);
        };
        callbacks.on_commit = [this](const decision::CommitAnswer& answer) {
            remark();
            callbacks_.on_commit(answer);
        };
        callbacks.on_observed = [this](const decision::StoredState& state) {
            remark();
            callbacks_.on_seen(state);
        };
        callbacks.on_watch = [this](const std::string& why) {
            if (why != watch_trouble_ && !why.empty()) spdlog::warn("decisions: {}", why);
            if (why.empty() && !watch_trouble_.empty()) spdlog::info("decisions: the store is back");
            watch_trouble_ = why;
        };
        callbacks.on_fenced = [this] { leader_.deposed(); };
        return callbacks;
    }
    void remark() {
        for (const std::string& line : store_.take_remarks()) spdlog::warn("decisions: {}", line);
    }

    net::EtcdClient client_;
    StoreCallbacks callbacks_;
    std::string watch_trouble_;
    std::string leader_trouble_;
    bool leads_ = false;
    bool stopping_ = false;
    connector::EtcdLeader leader_;
    connector::EtcdStore store_;
};

}  // namespace

net::EtcdOptions etcd_options(const AppConfig& config) {
    const EtcdConfig& c = config.etcd;
    net::EtcdOptions options;
    options.endpoints = c.endpoints;
    options.username = c.username.value_or("");
    options.password = c.password.value_or("");
    options.tls.certificate_authority = c.ca.value_or("");
    options.tls.client_certificate = c.client_cert.value_or("");
    options.tls.client_key = c.client_key.value_or("");
    options.lease_ttl = std::chrono::seconds{static_cast<std::int64_t>(c.lease_ttl.count())};
    return options;
}

double random_part() {
    static std::minstd_rand generator{std::random_device{}()};
    return std::generate_canonical<double, 32>(generator);
}

Result<std::unique_ptr<LiveStore>> make_etcd_store(boost::asio::io_context& io, const AppConfig& config,
                                                   const std::string& identity) {
    auto client = net::EtcdClient::create(io, etcd_options(config));
    if (!client) return failure("etcd: " + client.error().message);
    return std::unique_ptr<LiveStore>{
        std::make_unique<LiveEtcdStore>(io, std::move(*client), config, identity)};
}

}  // namespace dynaplan::app
