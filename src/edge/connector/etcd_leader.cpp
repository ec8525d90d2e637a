#include "connector/etcd_leader.hpp"

#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "connector/etcd_keys.hpp"
#include "net/etcd_lease.hpp"

namespace dynaplan::connector {

namespace {

using net::EtcdListing;
using net::EtcdPair;
using net::EtcdResult;
using net::EtcdTransactionAnswer;

// To give back a lease that led to nothing; it would end by itself.
constexpr std::chrono::milliseconds give_back_bound{1'000};

}  // namespace

class EtcdLeader::Impl : public std::enable_shared_from_this<Impl> {
public:
    Impl(boost::asio::io_context& loop, net::EtcdClient& client, EtcdLeaderOptions o,
         std::function<double()> random, Callbacks callbacks)
        : client_{client},
          options_{std::move(o)},
          callbacks_{std::move(callbacks)},
          key_{EtcdKeys{options_.name_space}.leader},
          backoff_{options_.watch.backoff, random},
          retry_{loop},
          lease_{loop, client, lease_callbacks()},
          watch_{loop, client, watch_options(), std::move(random), watch_callbacks()} {}

    void start() { watch_.start(); }

    [[nodiscard]] bool leads() const { return made_at_ && lease_.held(); }

    [[nodiscard]] std::optional<net::EtcdCompare> fence() const {
        if (!leads()) return std::nullopt;
        return net::EtcdCompare{.key = key_, .field = net::EtcdField::create_revision, .number = *made_at_};
    }

    void depose(const std::string& why) {
        if (!made_at_) return;
        give_back_lease();
        end_leading(why);
    }

    [[nodiscard]] std::string holder() const { return seen_ ? seen_->value : std::string{}; }

    void release(std::chrono::milliseconds bound, std::function<void()> done) {
        close();
        made_at_.reset();
        lease_.revoke(bound, std::move(done));
    }

    void close() {
        closed_ = true;
        ++attempt_;
        retry_.cancel();
        watch_.stop();
    }

    EtcdLeaderCounts counts;

private:
    // ---- what the watch tells

    net::EtcdWatchOptions watch_options() {
        net::EtcdWatchOptions out = options_.watch;
        out.span = {key_, {}};
        return out;
    }

    net::EtcdWatch::Callbacks watch_callbacks() {
        return {[this](const EtcdListing& listing) {
                    seen_ = listing.pairs.empty() ? std::nullopt : std::optional{listing.pairs.front()};
                    look(listing.revision);
                },
                [this](std::int64_t revision, const std::vector<net::EtcdEvent>& events) {
                    const net::EtcdEvent& last = events.back();
                    seen_ = last.deleted ? std::nullopt : std::optional{last.pair};
                    look(revision);
                },
                [this](const std::string& why) {
                    callbacks_.on_trouble("the leader key is not watched: " + why);
                }};
    }

    // The key as it was at `revision`: is it still ours, or is it free?
    void look(std::int64_t revision) {
        const auto keep_alive = shared_from_this();
        // Older than our own making of it: the event is on its way.
        if (made_at_ && revision < *made_at_) return;
        if (made_at_ && (!seen_ || seen_->create_revision != *made_at_))
            depose(seen_ ? "another process has the leader key: " + seen_->value
                         : "the leader key was deleted");
        if (closed_ || made_at_) return;
        if (!seen_) {
            campaign();
        } else if (seen_->lease == given_up_) {
            clear_away();
        }
    }

    // What stands there is our own of before. An etcd that was away and has come back lets its lease last for
    // its whole time once more; nobody needs to wait for that, since nobody leads.
    void clear_away() {
        ++counts.cleared;
        client_.revoke_lease(
            given_up_, [](const EtcdResult<void>&) {}, give_back_bound);
    }

    // ---- the way to the key: a lease, then the key on it

    void campaign() {
        if (closed_ || campaigning_ || made_at_) return;
        campaigning_ = true;
        ++counts.campaigns;
        retry_.cancel();
        lease_.start(options_.ttl);
    }

    net::EtcdLease::Callbacks lease_callbacks() {
        return {[this](const net::EtcdGrant& grant) {
                    granted_ = grant.lease;
                    make_key(grant.lease);
                },
                [this](const std::string& why) { try_later(why); },
                [this](const std::string& why) {
                    if (campaigning_) return try_later(why);
                    end_leading(why);
                }};
    }

    // Calls `act(*this, answer)` if this attempt still lasts.
    template <class Answer, class Act>
    auto guarded(Act act) {
        return [weak = weak_from_this(), attempt = attempt_, act](const Answer& answer) {
            const auto self = weak.lock();
            if (self && self->attempt_ == attempt) act(*self, answer);
        };
    }

    void make_key(std::int64_t lease) {
        net::EtcdTransaction t;
        t.compare.push_back({.key = key_, .field = net::EtcdField::create_revision, .number = 0});
        t.success.emplace_back(net::EtcdPut{key_, options_.identity, lease});
        t.failure.emplace_back(net::EtcdRead{{key_, {}}});
        client_.transact(t,
                         guarded<EtcdResult<EtcdTransactionAnswer>>([lease](Impl& self, const auto& answer) {
                             if (!answer && answer.error().fault == net::EtcdFault::lost)
                                 return self.find_key(lease);
                             if (!answer) return self.try_later(answer.error().message);
                             if (answer->succeeded) return self.begin_leading(answer->revision);
                             // Somebody was quicker. The watch tells when it goes.
                             self.campaigning_ = false;
                             self.give_back_lease();
                         }));
    }

    // The answer was lost: the key may be there, and ours.
    void find_key(std::int64_t lease) {
        client_.list({key_, {}}, guarded<EtcdResult<EtcdListing>>([lease](Impl& self, const auto& listing) {
                         if (!listing) return self.try_later(listing.error().message);
                         if (!listing->pairs.empty() && listing->pairs.front().lease == lease)
                             return self.begin_leading(listing->pairs.front().create_revision);
                         self.try_later("the answer to making the leader key was lost");
                     }));
    }

    void begin_leading(std::int64_t made_at) {
        campaigning_ = false;
        if (!lease_.held()) return try_later("the lease ended before it was of use");
        backoff_.reset();
        made_at_ = made_at;
        ++counts.won;
        callbacks_.on_lead(true, "made the leader key " + key_);
    }

    void end_leading(const std::string& why) {
        if (!made_at_) return;
        const auto keep_alive = shared_from_this();
        made_at_.reset();
        given_up_ = granted_;
        ++attempt_;
        ++counts.lost;
        callbacks_.on_lead(false, why);
        // A key that is gone already will not be seen to go; one that is still there will be.
        if (!closed_ && !watch_.stale() && !seen_) campaign();
    }

    void try_later(const std::string& why) {
        campaigning_ = false;
        given_up_ = granted_;
        ++attempt_;
        give_back_lease();
        retry_.expires_after(backoff_.next().value_or(options_.watch.backoff.max));
        retry_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
            const auto self = weak.lock();
            // With the key there, or a broken watch, the watch gives the next occasion.
            if (self && !error && !self->seen_ && !self->watch_.stale()) self->campaign();
        });
        callbacks_.on_trouble("no attempt to lead: " + why);
    }

    void give_back_lease() {
        lease_.revoke(give_back_bound, [] {});
    }

    net::EtcdClient& client_;
    EtcdLeaderOptions options_;
    Callbacks callbacks_;
    std::string key_;
    net::Backoff backoff_;
    boost::asio::steady_timer retry_;
    net::EtcdLease lease_;
    net::EtcdWatch watch_;
    std::optional<EtcdPair> seen_;         // the key, as the watch tells
    std::optional<std::int64_t> made_at_;  // the revision at which the key became ours, while we lead
    std::int64_t granted_ = 0;             // the newest lease that we were given
    std::int64_t given_up_ = 0;            // the newest of ours that is of no use any more; 0: none
    std::uint64_t attempt_ = 0;            // answers of an earlier one are not looked at
    bool campaigning_ = false;
    bool closed_ = false;
};

EtcdLeader::EtcdLeader(boost::asio::io_context& loop, net::EtcdClient& client, EtcdLeaderOptions options,
                       std::function<double()> random, Callbacks callbacks)
    : impl_{std::make_shared<Impl>(loop, client, std::move(options), std::move(random),
                                   std::move(callbacks))} {}

EtcdLeader::~EtcdLeader() { impl_->close(); }

void EtcdLeader::start() { impl_->start(); }
bool EtcdLeader::leads() const { return impl_->leads(); }
std::optional<net::EtcdCompare> EtcdLeader::fence() const { return impl_->fence(); }
void EtcdLeader::deposed() { impl_->depose("the store refused a write: another process leads"); }
std::string EtcdLeader::holder() const { return impl_->holder(); }
void EtcdLeader::release(std::chrono::milliseconds bound, std::function<void()> done) {
    impl_->release(bound, std::move(done));
}
const EtcdLeaderCounts& EtcdLeader::counts() const { return impl_->counts; }

}  // namespace dynaplan::connector
