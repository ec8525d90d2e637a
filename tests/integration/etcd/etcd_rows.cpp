// The suite against etcd: without a leader, where anyone writes, and with one, where each write carries the
// fence. One etcd serves them all; each host has a namespace of its own.
#include <utility>

#include "connector/etcd_leader.hpp"
#include "etcd_desk.hpp"
#include "store_host.hpp"

namespace dynaplan::connector {

namespace {

class EtcdHost final : public StoreHost {
public:
    explicit EtcdHost(bool fenced) : fenced_{fenced} { reopen(); }

    port::DecisionStore& store() override { return *store_; }

    void reopen() override {
        store_.reset();
        if (leader_) {
            bool released = false;
            leader_->release(std::chrono::seconds{5}, [&] { released = true; });
            REQUIRE(run_until(loop_, [&] { return released; }));
            leader_.reset();
        }
        client_.emplace(client_of(loop_, options_for({shared_etcd().url()})));
        EtcdStoreOptions options;
        options.name_space = name_space_;
        if (fenced_) {
            EtcdLeaderOptions leading;
            leading.name_space = name_space_;
            leading.identity = "the test";
            leader_ = std::make_unique<EtcdLeader>(
                loop_, *client_, leading, [] { return 0.0; },
                EtcdLeader::Callbacks{[](bool, const std::string&) {}, [](const std::string&) {}});
            leader_->start();
            REQUIRE(run_until(loop_, [&] { return leader_->leads(); }));
            options.fence = [this] { return leader_->fence(); };
        }
        store_ = std::make_unique<EtcdStore>(
            loop_, *client_, options, [] { return 0.0; },
            EtcdStore::Callbacks{[this](const port::ReadAnswer& answer) { read_ = answer; },
                                 [this](const port::CommitAnswer& answer) { committed_ = answer; },
                                 [](const port::StoredState&) {}, [](const std::string&) {}, [] {}});
        store_->start();
    }

    port::ReadAnswer read() override {
        read_ = store_->read();
        REQUIRE(run_until(loop_, [&] { return read_.has_value(); }));
        return *read_;
    }
    port::CommitAnswer commit(const port::Transaction& t) override {
        committed_ = store_->commit(t);
        REQUIRE(run_until(loop_, [&] { return committed_.has_value(); }));
        return *committed_;
    }

private:
    bool fenced_;
    std::string name_space_ = fresh_name_space();
    boost::asio::io_context loop_;
    std::optional<net::EtcdClient> client_;
    std::unique_ptr<EtcdLeader> leader_;
    std::unique_ptr<EtcdStore> store_;
    std::optional<port::ReadAnswer> read_;
    std::optional<port::CommitAnswer> committed_;
};

}  // namespace

std::vector<StoreRow> store_rows() {
    if (!support::etcd_program()) return {};
    return {{"etcd", true, [] { return std::make_unique<EtcdHost>(false); }},
            {"etcd, with a leader", true, [] { return std::make_unique<EtcdHost>(true); }}};
}

}  // namespace dynaplan::connector
