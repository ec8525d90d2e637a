#include "connector/etcd_store.hpp"

#include <utility>

#include "connector/etcd_commit.hpp"
#include "connector/etcd_keys.hpp"
#include "connector/etcd_picture.hpp"
#include "core/assert.hpp"

namespace dynaplan::connector {

namespace {

using net::EtcdFault;
using net::EtcdListing;
using net::EtcdResult;
using net::EtcdTransactionAnswer;
using port::CommitAnswer;
using port::CommitResult;
using port::ReadAnswer;
using port::StoredState;
using port::Transaction;

// Attempts within one call, when what is guarded beside the decision has changed meanwhile: a client's
// acknowledgement under a commit, a foreign write under the taking off of leases.
constexpr int attempts_max = 3;

}  // namespace

class EtcdStore::Impl : public std::enable_shared_from_this<Impl> {
public:
    Impl(boost::asio::io_context& loop, net::EtcdClient& client, EtcdStoreOptions o,
         std::function<double()> random, Callbacks callbacks)
        : client_{client},
          options_{std::move(o)},
          callbacks_{std::move(callbacks)},
          keys_{options_.name_space},
          picture{keys_},
          watch{loop, client, watch_options(), std::move(random), watch_callbacks()} {}

    std::optional<ReadAnswer> read() {
        DYNAPLAN_ASSERT(!under_way_);
        under_way_ = true;
        list(0);
        return std::nullopt;
    }

    std::optional<CommitAnswer> commit(const Transaction& t) {
        DYNAPLAN_ASSERT(!under_way_);
        ++counts.commits;
        return attempt(t, 0);
    }

    EtcdStoreCounts counts;
    std::string trouble;
    bool closed = false;  // its owner is gone

private:
    // First, since the picture and the watch are made of them.
    net::EtcdClient& client_;
    EtcdStoreOptions options_;
    Callbacks callbacks_;
    EtcdKeys keys_;

public:
    EtcdPicture picture;
    net::EtcdWatch watch;
    std::vector<std::string> remarks;

private:
    // Calls `act(*this, answer)` as long as the store lives.
    template <class Answer, class Act>
    auto while_alive(Act act) {
        return [weak = weak_from_this(), act](Answer answer) {
            if (const auto self = weak.lock()) act(*self, std::move(answer));
        };
    }

    // ---- reading

    void list(int attempt) {
        client_.list(net::etcd_prefix(keys_.all),
                     while_alive<EtcdResult<EtcdListing>>([attempt](Impl& self, const auto& listing) {
                         if (!listing) return self.answer_read(listing.error().message);
                         self.on_listing(*listing, attempt);
                     }));
    }

    void on_listing(const EtcdListing& listing, int attempt) {
        adopt(listing);
        const std::size_t leased = picture.leased().size();
        const auto fence = own_fence();
        if (leased == 0 || !may_write(fence)) return answer_read({});
        if (attempt == attempts_max) {
            remarks.push_back("etcd: keys under " + keys_.all +
                              "planner/ keep a lease: another coordinator goes on writing them");
            return answer_read({});
        }
        client_.transact(
            make_etcd_detachment(keys_, picture, fence),
            while_alive<EtcdResult<EtcdTransactionAnswer>>([attempt, leased](Impl& self, const auto& answer) {
                if (!answer) return self.answer_read(answer.error().message);
                if (answer->succeeded) self.counts.detached += leased;
                if (answer->listings.size() != 1)
                    return self.answer_read("etcd: a transaction without its listing");
                self.on_listing(answer->listings.front(), attempt + 1);
            }));
    }

    // `problem` empty: the picture is the answer.
    void answer_read(const std::string& problem) {
        under_way_ = false;
        ++answers_;
        trouble = problem;
        callbacks_.on_read(problem.empty() ? ReadAnswer{picture.state()} : ReadAnswer{});
        hand_over();
    }

    // ---- writing

    std::optional<CommitAnswer> attempt(const Transaction& t, int number) {
        const auto fence = own_fence();
        if (!may_write(fence)) return refuse("etcd: this process does not lead, and writes nothing");
        auto commit = make_etcd_commit(t, keys_, picture, fence, options_.record_bytes_max);
        if (!commit) return refuse(commit.error().message);
        counts.records_cut += commit->records_cut;
        under_way_ = true;
        client_.transact(commit->transaction, while_alive<EtcdResult<EtcdTransactionAnswer>>(
                                                  [t, number, fence](Impl& self, const auto& answer) {
                                                      self.on_commit(t, number, fence, answer);
                                                  }));
        return std::nullopt;
    }

    std::optional<CommitAnswer> refuse(std::string why) {
        trouble = std::move(why);
        ++counts.failed;
        return CommitAnswer{CommitResult::failed, 0, std::nullopt};
    }

    void on_commit(const Transaction& t, int number, const std::optional<net::EtcdCompare>& fence,
                   const EtcdResult<EtcdTransactionAnswer>& answer) {
        if (!answer) {
            trouble = answer.error().message;
            const bool lost = answer.error().fault == EtcdFault::lost;
            ++(lost ? counts.unknown : counts.failed);
            return answer_commit({lost ? CommitResult::unknown : CommitResult::failed, 0, std::nullopt});
        }
        if (answer->succeeded) {
            trouble.clear();
            answered_at_ = answer->revision;
            const auto revision =
                t.current ? static_cast<std::uint64_t>(answer->revision) : t.expected_revision;
            return answer_commit({CommitResult::ok, revision, std::nullopt});
        }
        if (answer->listings.size() != 1) {
            trouble = "etcd: a transaction without its listing";
            ++counts.failed;
            return answer_commit({CommitResult::failed, 0, std::nullopt});
        }
        adopt(answer->listings.front());
        if (fence && picture.leader_since() != fence->number) {
            trouble = "etcd: another process leads; what was to be written is refused by the store";
            ++counts.fenced;
            ++counts.failed;
            answer_commit({CommitResult::failed, 0, std::nullopt});
            if (!closed) callbacks_.on_fenced();
            return;
        }
        const bool decided =
            static_cast<std::uint64_t>(picture.written_at(keys_.current)) != t.expected_revision;
        // The decision is as expected, so it was the acknowledgement that a client has moved.
        if (!decided && number + 1 < attempts_max) {
            if (const auto refused = attempt(t, number + 1)) answer_commit(*refused);
            return;
        }
        trouble = decided ? "etcd: another coordinator has decided meanwhile"
                          : "etcd: the acknowledgement goes on changing";
        ++counts.conflicts;
        answer_commit({CommitResult::conflict, 0, picture.state()});
    }

    void answer_commit(const CommitAnswer& answer) {
        under_way_ = false;
        ++answers_;
        callbacks_.on_commit(answer);
        hand_over();
    }

    // ---- watching

    net::EtcdWatchOptions watch_options() {
        net::EtcdWatchOptions out = options_.watch;
        out.span = net::etcd_prefix(keys_.all);
        return out;
    }

    net::EtcdWatch::Callbacks watch_callbacks() {
        return {[this](const EtcdListing& listing) {
                    // An answer that came while the watch was made is newer; events up to it will follow. A
                    // store that was wiped starts from 1 again: only a read tells the two apart.
                    if (listing.revision < answered_at_) return check_revision();
                    if (listing.revision >= picture.as_of()) picture.replace(listing);
                    told({});
                },
                [this](std::int64_t revision, const std::vector<net::EtcdEvent>& events) {
                    picture.apply(revision, events);
                    told({});
                },
                [this](const std::string& why) { callbacks_.on_watch(why); }};
    }

    void check_revision() {
        const auto reads = while_alive<EtcdResult<EtcdListing>>(
            [answers = answers_](Impl& self, const EtcdResult<EtcdListing>& listing) {
                if (!listing) return;  // then the watch breaks as well, and lists again
                // An answer that came in between may be the newer one.
                if (self.under_way_ || self.answers_ != answers) return self.check_revision();
                self.adopt(*listing);
                self.told({});
            });
        client_.list(net::etcd_prefix(keys_.all), reads);
    }

    void told(const std::string& why) {
        unseen_ = true;
        const auto keep_alive = shared_from_this();
        callbacks_.on_watch(why);
        hand_over();
    }

    void hand_over() {
        if (closed || !unseen_ || under_way_ || picture.as_of() < answered_at_) return;
        unseen_ = false;
        ++counts.observed;
        const StoredState state = picture.state();
        if (state.acknowledged && *state.acknowledged > state.current.value_or(-1) &&
            state.acknowledged != future_) {
            ++counts.future_acknowledgements;
            future_ = state.acknowledged;
        }
        callbacks_.on_observed(state);
    }

    // ---- both

    // A linearizable listing is the newest there is.
    void adopt(const EtcdListing& listing) {
        picture.replace(listing);
        answered_at_ = listing.revision;
    }

    [[nodiscard]] std::optional<net::EtcdCompare> own_fence() const {
        return options_.fence ? options_.fence() : std::nullopt;
    }
    [[nodiscard]] bool may_write(const std::optional<net::EtcdCompare>& fence) const {
        return !options_.fence || fence.has_value();
    }

    bool under_way_ = false;
    bool unseen_ = false;           // the watch has told what was not handed over yet
    std::int64_t answered_at_ = 0;  // the revision of the last answer
    std::uint64_t answers_ = 0;
    std::optional<DecisionId> future_;
};

EtcdStore::EtcdStore(boost::asio::io_context& loop, net::EtcdClient& client, EtcdStoreOptions options,
                     std::function<double()> random, Callbacks callbacks)
    : impl_{std::make_shared<Impl>(loop, client, std::move(options), std::move(random),
                                   std::move(callbacks))} {}

EtcdStore::~EtcdStore() {
    impl_->closed = true;
    impl_->watch.stop();
}

void EtcdStore::start() { impl_->watch.start(); }
bool EtcdStore::stale() const { return impl_->watch.stale(); }

std::optional<ReadAnswer> EtcdStore::read() { return impl_->read(); }
std::optional<CommitAnswer> EtcdStore::commit(const Transaction& t) { return impl_->commit(t); }

StoredState EtcdStore::seen() const { return impl_->picture.state(); }
const std::string& EtcdStore::trouble() const { return impl_->trouble; }

std::vector<std::string> EtcdStore::take_remarks() {
    auto out = impl_->picture.take_remarks();
    for (std::string& remark : impl_->remarks) out.push_back(std::move(remark));
    impl_->remarks.clear();
    return out;
}

const EtcdStoreCounts& EtcdStore::counts() const { return impl_->counts; }
const net::EtcdWatchCounts& EtcdStore::watch_counts() const { return impl_->watch.counts(); }

}  // namespace dynaplan::connector
