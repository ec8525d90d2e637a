#include "net/etcd_lease.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

namespace dynaplan::net {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds retry_delay{200};  // after a renewal that failed at once

}  // namespace

class EtcdLease::Impl : public std::enable_shared_from_this<Impl> {
public:
    Impl(asio::io_context& loop, EtcdClient& client, Callbacks callbacks)
        : loop_{loop}, client_{client}, callbacks_{std::move(callbacks)}, renewal_{loop}, end_{loop} {}

    void start(std::chrono::seconds ttl) {
        if (asked_ || lease_) return;
        asked_ = true;
        const auto sent = Clock::now();
        client_.grant_lease(
            ttl, [weak = weak_from_this(), life = life_, sent](const EtcdResult<EtcdGrant>& grant) {
                const auto self = weak.lock();
                if (!self) return;
                if (self->life_ != life) {
                    // Given up while it was asked for.
                    if (grant) self->client_.revoke_lease(grant->lease, [](const EtcdResult<void>&) {});
                    return;
                }
                self->asked_ = false;
                if (!grant) return self->callbacks_.on_refused(grant.error().message);
                self->lease_ = grant->lease;
                self->hold_from(sent, grant->ttl);
                self->renew_after(self->interval());
                self->callbacks_.on_granted(*grant);
            });
    }

    [[nodiscard]] std::optional<std::int64_t> held() const {
        return lease_ && Clock::now() < until_ ? lease_ : std::nullopt;
    }

    void revoke(milliseconds bound, std::function<void()> done) {
        const auto lease = lease_;
        forget();
        if (!lease) {
            asio::post(loop_, std::move(done));
            return;
        }
        // Whichever comes first says so; the timer keeps itself until then.
        const auto timer = std::make_shared<asio::steady_timer>(loop_, bound);
        const auto say = std::make_shared<std::function<void()>>(std::move(done));
        const auto once = [say, timer] {
            const auto callback = std::exchange(*say, nullptr);
            timer->cancel();
            if (callback) callback();
        };
        timer->async_wait([once](const error_code& error) {
            if (!error) once();
        });
        client_.revoke_lease(
            *lease, [once](const EtcdResult<void>&) { once(); }, bound);
    }

    void forget() {
        ++life_;
        asked_ = false;
        lease_.reset();
        renewal_.cancel();
        end_.cancel();
    }

    EtcdLeaseCounts counts;

private:
    [[nodiscard]] milliseconds interval() const { return milliseconds{ttl_} / 3; }

    void hold_from(Clock::time_point sent, std::chrono::seconds ttl) {
        ttl_ = ttl;
        until_ = sent + ttl;
        end_.expires_at(until_);
        end_.async_wait([weak = weak_from_this(), life = life_](const error_code& error) {
            const auto self = weak.lock();
            // A timer that was moved on after it had fired does not mean an end.
            if (self && !error && self->life_ == life && self->until_ <= Clock::now())
                self->lose("no renewal was answered for " + std::to_string(self->ttl_.count()) + " s");
        });
    }

    void renew_after(milliseconds delay) {
        renewal_.expires_after(delay);
        renewal_.async_wait([weak = weak_from_this(), life = life_](const error_code& error) {
            const auto self = weak.lock();
            if (self && !error && self->life_ == life) self->renew();
        });
    }

    void renew() {
        const auto sent = Clock::now();
        // Late enough for a slow answer, early enough to ask another endpoint within the lease's time.
        client_.keep_alive(
            *lease_,
            [weak = weak_from_this(), life = life_,
             sent](const EtcdResult<std::optional<std::chrono::seconds>>& kept) {
                const auto self = weak.lock();
                if (!self || self->life_ != life) return;
                if (kept && !*kept) return self->lose("etcd no longer has it");
                if (!kept) {
                    ++self->counts.failures;
                    return self->renew_after(std::min(retry_delay, self->interval()));
                }
                ++self->counts.renewals;
                self->hold_from(sent, **kept);
                self->renew_after(self->interval());
            },
            interval());
    }

    void lose(const std::string& why) {
        const std::int64_t lease = lease_.value_or(0);
        forget();
        callbacks_.on_lost("lease " + std::to_string(lease) + " is lost: " + why);
    }

    asio::io_context& loop_;
    EtcdClient& client_;
    Callbacks callbacks_;
    asio::steady_timer renewal_;
    asio::steady_timer end_;
    std::optional<std::int64_t> lease_;
    std::chrono::seconds ttl_{0};
    Clock::time_point until_;
    std::uint64_t life_ = 0;  // counts leases that were given up; what comes late for one is not looked at
    bool asked_ = false;
};

EtcdLease::EtcdLease(asio::io_context& loop, EtcdClient& client, Callbacks callbacks)
    : impl_{std::make_shared<Impl>(loop, client, std::move(callbacks))} {}

EtcdLease::~EtcdLease() { impl_->forget(); }

void EtcdLease::start(std::chrono::seconds ttl) { impl_->start(ttl); }
std::optional<std::int64_t> EtcdLease::held() const { return impl_->held(); }
void EtcdLease::revoke(milliseconds bound, std::function<void()> done) {
    impl_->revoke(bound, std::move(done));
}
void EtcdLease::forget() { impl_->forget(); }
const EtcdLeaseCounts& EtcdLease::counts() const { return impl_->counts; }

}  // namespace dynaplan::net
