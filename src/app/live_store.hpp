// The store of decisions as `serve` runs it: which one, and whether this process may write to it now. Who may
// not stands by, says why, and takes over by itself.
//
// The loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "app/config_app.hpp"
#include "decision/store.hpp"

namespace dynaplan::app {

class LiveStore {
public:
    using OnLead = std::function<void(bool leads)>;

    LiveStore() = default;
    virtual ~LiveStore() = default;
    LiveStore(const LiveStore&) = delete;
    LiveStore& operator=(const LiveStore&) = delete;

    [[nodiscard]] virtual decision::DecisionStore& store() = 0;
    [[nodiscard]] virtual std::string_view kind() const = 0;
    // Why it cannot be used now, or why this process stands by; empty when all is well.
    [[nodiscard]] virtual std::string reason() const = 0;
    // Strives for the right to write from now on; `on_lead` may be called before this returns.
    virtual void start(OnLead on_lead) = 0;
    // Lets the next process write. `done` is called when that is known to all, or after some moments.
    virtual void stop(std::function<void()> done) = 0;
};

[[nodiscard]] std::unique_ptr<LiveStore> make_store(boost::asio::io_context&, const AppConfig&);

}  // namespace dynaplan::app
