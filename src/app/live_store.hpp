// The store of decisions as `serve` runs it: which one, and whether this process may write to it now. Who may
// not stands by, says why, shows what the leader writes, and takes over by itself.
//
// The loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "app/config_app.hpp"
#include "core/result.hpp"
#include "decision/store.hpp"

namespace dynaplan::app {

struct StoreCallbacks {
    std::function<void(bool leads)> on_lead;
    // Of a store that answers later.
    std::function<void(const decision::ReadAnswer&)> on_read;
    std::function<void(const decision::CommitAnswer&)> on_commit;
    // What others wrote.
    std::function<void(const decision::StoredState&)> on_seen;
};

class LiveStore {
public:
    LiveStore() = default;
    virtual ~LiveStore() = default;
    LiveStore(const LiveStore&) = delete;
    LiveStore& operator=(const LiveStore&) = delete;

    [[nodiscard]] virtual decision::DecisionStore& store() = 0;
    [[nodiscard]] virtual std::string_view kind() const = 0;
    // Why it cannot be used now, or why this process stands by; empty when all is well.
    [[nodiscard]] virtual std::string reason() const = 0;
    // What is known of it may be old: what others wrote is not heard of now.
    [[nodiscard]] virtual bool stale() const { return false; }
    // Strives for the right to write from now on; `on_lead` may be called before this returns.
    virtual void start(StoreCallbacks) = 0;
    // Lets the next process write. `done` is called when that is known to all, or after some moments.
    virtual void stop(std::function<void()> done) = 0;
};

// `identity`: who we are, for those who stand by.
[[nodiscard]] Result<std::unique_ptr<LiveStore>> make_store(boost::asio::io_context&, const AppConfig&,
                                                            const std::string& identity);

}  // namespace dynaplan::app
