#include "app/command_decisions_etcd.hpp"

#include <charconv>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "net/etcd_client.hpp"

namespace dynaplan::app {

namespace {

using std::chrono::milliseconds;

// Attempts to raise the acknowledged number while others write it too.
constexpr int raise_attempts = 5;

std::optional<std::int64_t> number_of(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// What stands under the root at one revision.
struct Picture {
    std::int64_t revision = 0;
    std::optional<std::int64_t> prefill;
    std::optional<std::int64_t> decode;
    DecisionId id = -1;
    DecisionId acknowledged = -1;
    std::int64_t acknowledged_revision = 0;  // of the key, 0 when it is not there

    [[nodiscard]] std::optional<SeenDecision> newest() const {
        if (id < 0) return std::nullopt;
        SeenDecision seen;
        seen.id = id;
        seen.state = acknowledged >= id ? "acknowledged" : "published";
        seen.prefill = prefill;
        seen.decode = decode;
        const auto text = [](const std::optional<std::int64_t>& n) {
            return n ? std::to_string(*n) : std::string{"null"};
        };
        seen.json = "{\"decision_id\":" + std::to_string(id) + ",\"state\":\"" + seen.state +
                    "\",\"prefill\":" + text(prefill) + ",\"decode\":" + text(decode) + "}";
        return seen;
    }
};

class EtcdSource final : public DecisionSource {
public:
    EtcdSource(boost::asio::io_context& loop, net::EtcdClient client, const std::string& name_space)
        : client_{std::move(client)}, timer_{loop}, root_{"v1/" + name_space + "/planner/"} {}

    void standing(Done<Standing> done) override {
        read([done = std::move(done)](const Answer<Picture>& picture) {
            if (!picture) return done(tl::unexpected{picture.error()});
            done(Standing{true, picture->newest()});
        });
    }

    void next(DecisionId after, milliseconds wait, Done<std::optional<SeenDecision>> done) override {
        timer_.expires_after(wait);
        look(after, std::move(done));
    }

    void all(Done<std::vector<SeenDecision>> done) override {
        read([done = std::move(done)](const Answer<Picture>& picture) {
            if (!picture) return done(tl::unexpected{picture.error()});
            std::vector<SeenDecision> seen;
            if (auto newest = picture->newest()) seen.push_back(std::move(*newest));
            done(std::move(seen));
        });
    }

    void find(DecisionId id, Done<std::optional<SeenDecision>> done) override {
        read([id, done = std::move(done)](const Answer<Picture>& picture) {
            if (!picture) return done(tl::unexpected{picture.error()});
            done(picture->id == id ? picture->newest() : std::nullopt);
        });
    }

    [[nodiscard]] bool knows_failure() const override { return false; }

    void settle(DecisionId id, bool completed, Done<SeenDecision> done) override {
        if (completed) return raise(id, raise_attempts, std::move(done));
        read([done = std::move(done)](const Answer<Picture>& picture) {
            if (!picture) return done(tl::unexpected{picture.error()});
            done(tl::unexpected{Trouble{Trouble::Kind::refused,
                                        "the keys in etcd cannot say that a decision failed: it stays open "
                                        "until the planner's time-out; with --url it can be said"}});
        });
    }

    void stop() override {
        ++turn_;
        timer_.cancel();
        client_.cancel(std::exchange(watch_, 0));
    }

private:
    using OnPicture = std::function<void(Answer<Picture>)>;

    void read(OnPicture done) {
        client_.list(net::etcd_prefix(root_), [this, turn = turn_, done = std::move(done)](
                                                  const net::EtcdResult<net::EtcdListing>& listing) {
            if (turn != turn_) return;
            if (!listing) return done(tl::unexpected{trouble(listing.error())});
            done(picture_of(*listing));
        });
    }

    // As the existing clients have it: a count or an id that is no number makes the whole reading useless.
    [[nodiscard]] Answer<Picture> picture_of(const net::EtcdListing& listing) const {
        Picture picture;
        picture.revision = listing.revision;
        for (const net::EtcdPair& pair : listing.pairs) {
            const std::string name = pair.key.substr(root_.size());
            const auto number = number_of(pair.value);
            if (name == "scaled_decision_id") {
                picture.acknowledged = number.value_or(-1);
                picture.acknowledged_revision = pair.mod_revision;
                continue;
            }
            if (name != "num_prefill_workers" && name != "num_decode_workers" && name != "decision_id")
                continue;
            if (!number || *number < 0) {
                return tl::unexpected{Trouble{Trouble::Kind::unavailable,
                                              "etcd: " + pair.key + " holds no number of 0 or more"}};
            }
            if (name == "decision_id") {
                picture.id = *number;
            } else {
                (name == "num_prefill_workers" ? picture.prefill : picture.decode) = *number;
            }
        }
        return picture;
    }

    static Trouble trouble(const net::EtcdFailure& failure) {
        using Kind = Trouble::Kind;
        if (failure.fault != net::EtcdFault::refused) {
            return {Kind::unreachable,
                    failure.message + ": is etcd running there? Give its address with --etcd"};
        }
        // gRPC's codes of what will not change: invalid argument, permission denied, not authenticated.
        constexpr int invalid_argument = 3;
        constexpr int permission_denied = 7;
        constexpr int unauthenticated = 16;
        const bool stays = failure.code == invalid_argument || failure.code == permission_denied ||
                           failure.code == unauthenticated;
        return {stays ? Kind::refused : Kind::unavailable, failure.message};
    }

    // Reads first, then watches from there: what is written between is not missed. Only decision_id matters.
    void look(DecisionId after, Done<std::optional<SeenDecision>> done) {
        read([this, after, done = std::move(done)](const Answer<Picture>& picture) {
            if (!picture) return done(tl::unexpected{picture.error()});
            if (picture->id >= 0 && picture->id != after) return done(picture->newest());
            if (timer_.expiry() <= std::chrono::steady_clock::now())
                return done(std::optional<SeenDecision>{});
            watch(after, picture->revision + 1, done);
        });
    }

    void watch(DecisionId after, std::int64_t from, const Done<std::optional<SeenDecision>>& done) {
        timer_.async_wait([this, turn = turn_, done](const boost::system::error_code& error) {
            if (error || turn != turn_) return;
            stop();
            done(std::optional<SeenDecision>{});
        });
        net::EtcdClient::WatchCallbacks callbacks;
        callbacks.on_message = [this, turn = turn_, after, done](const net::EtcdWatchMessage& message) {
            if (turn != turn_ || (message.events.empty() && !message.canceled)) return;
            const auto expiry = timer_.expiry();
            stop();
            timer_.expires_at(expiry);
            look(after, done);
        };
        callbacks.on_end = [this, turn = turn_, done](const std::string& why) {
            if (turn != turn_) return;
            watch_ = 0;
            stop();
            done(tl::unexpected{trouble({net::EtcdFault::lost, 0, why})});
        };
        watch_ = client_.watch(net::EtcdSpan{root_ + "decision_id"}, from, std::move(callbacks));
    }

    // Puts the id when the stored one is smaller; the guard is the revision of what was read.
    void raise(DecisionId id, int attempts, Done<SeenDecision> done) {
        read([this, id, attempts, done = std::move(done)](const Answer<Picture>& picture) {
            if (!picture) return done(tl::unexpected{picture.error()});
            if (id < 0 || id > picture->id) {
                return done(tl::unexpected{Trouble{
                    Trouble::Kind::refused, "decision " + std::to_string(id) + " was never published"}});
            }
            if (picture->acknowledged >= id) return done(settled(*picture, id));
            if (attempts == 0) {
                return done(tl::unexpected{Trouble{
                    Trouble::Kind::unavailable, "etcd: others write " + root_ + "scaled_decision_id too"}});
            }
            const std::string key = root_ + "scaled_decision_id";
            net::EtcdTransaction transaction;
            transaction.compare.push_back(
                {key, net::EtcdField::mod_revision, picture->acknowledged_revision});
            transaction.success.push_back(net::EtcdPut{key, std::to_string(id)});
            client_.transact(transaction, [this, turn = turn_, id, attempts,
                                           done](const net::EtcdResult<net::EtcdTransactionAnswer>& answer) {
                if (turn != turn_) return;
                if (!answer) return done(tl::unexpected{trouble(answer.error())});
                raise(id, attempts - 1, done);  // reads what now stands there
            });
        });
    }

    static SeenDecision settled(const Picture& picture, DecisionId id) {
        if (id == picture.id) return *picture.newest();
        SeenDecision old;
        old.id = id;
        old.json = "{\"decision_id\":" + std::to_string(id) + "}";
        return old;
    }

    net::EtcdClient client_;
    boost::asio::steady_timer timer_;
    std::string root_;
    std::uint64_t turn_ = 0;  // answers to what was asked in an earlier one are not wanted
    net::EtcdClient::WatchId watch_ = 0;
};

}  // namespace

Result<std::unique_ptr<DecisionSource>> open_etcd_source(boost::asio::io_context& loop,
                                                         const EtcdPlace& place) {
    auto client = net::EtcdClient::create(loop, place.options);
    if (!client) return failure("--etcd: " + client.error().message);
    return std::make_unique<EtcdSource>(loop, std::move(*client), place.name_space);
}

}  // namespace dynaplan::app
