#include "app/live_store.hpp"

#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>
#include <boost/asio/steady_timer.hpp>

#include "app/live_etcd.hpp"
#include "connector/file_store.hpp"
#include "decision/memory_store.hpp"

namespace dynaplan::app {

namespace {

// Forgets everything at the end; nobody else can write to it.
class LiveMemoryStore final : public LiveStore {
public:
    decision::DecisionStore& store() override { return store_; }
    [[nodiscard]] std::string_view kind() const override { return "memory"; }
    [[nodiscard]] std::string reason() const override { return {}; }
    void start(StoreCallbacks callbacks) override { callbacks.on_lead(true); }
    void stop(std::function<void()> done) override { done(); }

private:
    decision::MemoryStore store_;
};

// The lock on the folder is what makes a leader: who does not have it asks again every second, and who has it
// looks as often whether it is still there.
class LiveFileStore final : public LiveStore {
public:
    LiveFileStore(boost::asio::io_context& io, std::string folder)
        : store_{{.folder = std::move(folder), .disk = nullptr}}, retry_{io} {}

    decision::DecisionStore& store() override { return store_; }
    [[nodiscard]] std::string_view kind() const override { return "file"; }
    [[nodiscard]] std::string reason() const override { return reason_.empty() ? store_.trouble() : reason_; }
    void start(StoreCallbacks callbacks) override {
        callbacks_ = std::move(callbacks);
        strive();
    }
    void stop(std::function<void()> done) override {
        retry_.cancel();
        store_.release();
        done();
    }

private:
    void strive() {
        if (leads_ && !store_.check() && !store_.held()) {  // somebody deleted or replaced the lock
            leads_ = false;
            callbacks_.on_lead(false);
        }
        if (!leads_) ask_for_lock();
        constexpr std::chrono::seconds again{1};
        retry_.expires_after(again);
        retry_.async_wait([this](const boost::system::error_code& error) {
            if (!error) strive();
        });
    }
    void ask_for_lock() {
        const auto answer = store_.try_lock();
        for (const std::string& remark : store_.take_remarks()) spdlog::warn("decisions: {}", remark);
        const std::string reason = !answer ? answer.error().message : answer->held ? "" : answer->other;
        if (reason != reason_ && !reason.empty()) spdlog::warn("standing by: {}", reason);
        reason_ = reason;
        if (!answer || !answer->held) {
            if (const auto seen = store_.read(); seen && seen->state) callbacks_.on_seen(*seen->state);
            return;
        }
        spdlog::info("decisions are kept in {}", store_.path());
        leads_ = true;
        callbacks_.on_lead(true);
    }

    connector::FileStore store_;
    boost::asio::steady_timer retry_;
    StoreCallbacks callbacks_;
    std::string reason_;
    bool leads_ = false;
};

}  // namespace

Result<std::unique_ptr<LiveStore>> make_store(boost::asio::io_context& io, const AppConfig& config,
                                              const std::string& identity) {
    switch (config.decisions.store) {
        case StoreKind::memory: return std::make_unique<LiveMemoryStore>();
        case StoreKind::file: return std::make_unique<LiveFileStore>(io, config.decisions.path);
        case StoreKind::etcd: break;
    }
    return make_etcd_store(io, config, identity);
}

}  // namespace dynaplan::app
