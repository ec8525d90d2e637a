#include "net/etcd_watch.hpp"

#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

namespace dynaplan::net {

namespace asio = boost::asio;
using boost::system::error_code;

class EtcdWatch::Impl : public std::enable_shared_from_this<Impl> {
    // Calls `act(*this, argument)` as long as this round lasts.
    template <class Argument, class Act>
    auto guarded(Act act) {
        return [weak = weak_from_this(), round = round_, act](Argument argument) {
            const auto self = weak.lock();
            if (self && self->round_ == round) act(*self, std::move(argument));
        };
    }

public:
    Impl(asio::io_context& loop, EtcdClient& client, EtcdWatchOptions options, std::function<double()> random,
         Callbacks callbacks)
        : client_{client},
          options_{std::move(options)},
          callbacks_{std::move(callbacks)},
          backoff_{options_.backoff, std::move(random)},
          timer_{loop} {}

    // A round is one listing and the watch after it; what comes late from an earlier one is not looked at.
    void begin_round() {
        cancel_watch();
        ++round_;
        client_.list(options_.span, guarded<EtcdResult<EtcdListing>>([](Impl& self, auto listing) {
                         if (!listing) return self.broken(listing.error().message);
                         self.watch_from(std::move(*listing));
                     }));
    }

    void stop() {
        ++round_;
        cancel_watch();
        timer_.cancel();
        stale = true;
    }

    bool stale = true;
    EtcdWatchCounts counts;

private:
    void watch_from(EtcdListing listing) {
        const std::int64_t next = listing.revision + 1;
        listing_ = std::move(listing);
        EtcdClient::WatchCallbacks callbacks;
        callbacks.on_message = guarded<const EtcdWatchMessage&>(
            [](Impl& self, const EtcdWatchMessage& message) { self.on_message(message); });
        callbacks.on_end = guarded<std::string>([](Impl& self, std::string why) {
            self.watch_.reset();
            self.broken(why);
        });
        watch_ = client_.watch(options_.span, next, std::move(callbacks));
    }

    void on_message(const EtcdWatchMessage& message) {
        const auto round = round_;
        if (message.created && !message.canceled && listing_) {
            stale = false;
            ++counts.listings;
            backoff_.reset();
            wait(options_.relist_every);
            const EtcdListing listing = std::move(*listing_);
            listing_.reset();
            callbacks_.on_listing(listing);
            if (round_ != round) return;
        }
        if (!message.events.empty() && !stale) {
            counts.events += message.events.size();
            // A watch that catches up sends its events in parts, each with the store's newest revision in its
            // head: only the events tell how far they go.
            callbacks_.on_events(message.events.back().pair.mod_revision, message.events);
            if (round_ != round) return;
        }
        if (!message.canceled) return;
        if (message.compact_revision > 0) ++counts.compactions;
        const std::string reason =
            !message.cancel_reason.empty() ? message.cancel_reason
            : message.compact_revision > 0
                ? "the store was compacted at revision " + std::to_string(message.compact_revision)
                : "without a reason";
        broken(client_.endpoint() + ": etcd cancelled the watch: " + reason);
    }

    void broken(const std::string& why) {
        cancel_watch();
        ++round_;
        listing_.reset();
        stale = true;
        ++counts.breaks;
        wait(backoff_.next().value_or(options_.backoff.max));
        callbacks_.on_stale(why);
    }

    void wait(std::chrono::milliseconds delay) {
        timer_.expires_after(delay);
        timer_.async_wait([weak = weak_from_this(), round = round_](const error_code& error) {
            const auto self = weak.lock();
            if (self && !error && self->round_ == round) self->begin_round();
        });
    }

    void cancel_watch() {
        if (watch_) client_.cancel(*std::exchange(watch_, std::nullopt));
    }

    EtcdClient& client_;
    EtcdWatchOptions options_;
    Callbacks callbacks_;
    Backoff backoff_;
    asio::steady_timer timer_;
    std::uint64_t round_ = 0;
    std::optional<EtcdClient::WatchId> watch_;
    std::optional<EtcdListing> listing_;  // until its watch stands
};

EtcdWatch::EtcdWatch(asio::io_context& loop, EtcdClient& client, EtcdWatchOptions options,
                     std::function<double()> random, Callbacks callbacks)
    : impl_{std::make_shared<Impl>(loop, client, std::move(options), std::move(random),
                                   std::move(callbacks))} {}

EtcdWatch::~EtcdWatch() { stop(); }

void EtcdWatch::start() { impl_->begin_round(); }
void EtcdWatch::stop() { impl_->stop(); }
bool EtcdWatch::stale() const { return impl_->stale; }
const EtcdWatchCounts& EtcdWatch::counts() const { return impl_->counts; }

}  // namespace dynaplan::net
