#include "bus/nats_session.hpp"

#include <utility>

namespace dynaplan::bus {

namespace {

constexpr std::int64_t flush_ms = 2000;
constexpr auto callbacks_end_within = std::chrono::milliseconds{2000};
// What may wait in the library for its own thread, which only copies into the ring: some 0.1 s of a large
// fleet.
constexpr int pending_messages_most = 65'536;
constexpr int pending_bytes_most = 32 << 20;
constexpr std::size_t errors_most = 64;
constexpr auto refusal_within = std::chrono::milliseconds{100};

bool names(const std::string& error, const std::string& subject) {
    return error.find('"' + subject + '"') != std::string::npos;
}

}  // namespace

// What the connection's callbacks use. They come from one thread of the library.
struct NatsSession::Shared {
    std::counting_semaphore<>& wake;
    boost::lockfree::spsc_queue<std::string> errors{errors_most};
    std::atomic<bool> closed{false};

    static void on_closed(natsConnection*, void* self) {
        auto& shared = *static_cast<Shared*>(self);
        auto& bell = shared.wake;  // this object may go as soon as the flag is seen
        shared.closed = true;
        bell.release();
    }
    static void on_error(natsConnection*, natsSubscription*, natsStatus error, void* self) {
        if (error == NATS_SLOW_CONSUMER) return;  // counted by what it drops
        auto& shared = *static_cast<Shared*>(self);
        shared.errors.push(text_of(error));
        shared.wake.release();
    }
};

// What one subscription's callbacks use. They come one after the other.
struct NatsSession::Delivery {
    std::counting_semaphore<>& wake;
    LoopBell& bell;
    MessageRing& ring;
    std::atomic<bool> complete{false};

    static void on_message(natsConnection*, natsSubscription*, natsMsg* message, void* self) {
        auto& delivery = *static_cast<Delivery*>(self);
        const int size = natsMsg_GetDataLength(message);
        delivery.ring.push({natsMsg_GetData(message), static_cast<std::size_t>(size > 0 ? size : 0)});
        natsMsg_Destroy(message);
        delivery.bell.ring();
    }
    static void on_complete(void* self) {
        auto& delivery = *static_cast<Delivery*>(self);
        auto& wake = delivery.wake;  // as above
        delivery.complete = true;
        wake.release();
    }
};

NatsSession::NatsSession(std::shared_ptr<void> keep, std::counting_semaphore<>& wake, LoopBell& bell,
                         const std::vector<std::string>& subjects, std::vector<MessageRing*> rings)
    : keep_{std::move(keep)},
      wake_{wake},
      bell_{bell},
      subjects_{subjects},
      rings_{std::move(rings)},
      shared_{new Shared{.wake = wake}},
      subscriptions_(subjects.size()) {}

NatsSession::~NatsSession() {
    if (!connection_) return;
    for (Subscription& subscription : subscriptions_) unsubscribe(subscription);
    natsConnection_Close(connection_.get());
    if (!wait_for([&] { return shared_->closed.load(); }, callbacks_end_within)) {
        static_cast<void>(new std::shared_ptr<void>{keep_});
        static_cast<void>(shared_.release());
    }
    connection_.reset();
}

// True when the condition has come about in time. Other news for the thread is not lost: it looks at all
// flags whenever it wakes.
template <class Condition>
bool NatsSession::wait_for(const Condition& condition, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        const auto left = deadline - std::chrono::steady_clock::now();
        if (left <= left.zero()) return false;
        wake_.try_acquire_for(left);
    }
    return true;
}

natsStatus NatsSession::connect(const NatsSettings& settings) {
    natsOptions_SetClosedCB(settings.get(), &Shared::on_closed, shared_.get());
    natsOptions_SetErrorHandler(settings.get(), &Shared::on_error, shared_.get());
    natsConnection* made = nullptr;
    const natsStatus status = natsConnection_Connect(&made, settings.get());
    if (status == NATS_OK) connection_.reset(made);
    return status;
}

void NatsSession::subscribe(std::size_t subject) {
    Subscription& subscription = subscriptions_[subject];
    subscription.delivery.reset(new Delivery{.wake = wake_, .bell = bell_, .ring = *rings_[subject]});
    natsSubscription* made = nullptr;
    natsStatus status = natsConnection_Subscribe(&made, connection_.get(), subjects_[subject].c_str(),
                                                 &Delivery::on_message, subscription.delivery.get());
    if (status != NATS_OK) return refuse(subject, text_of(status));
    subscription.handle.reset(made);
    subscription.refused = false;
    subscription.dropped = 0;
    status = natsSubscription_SetOnCompleteCB(made, &Delivery::on_complete, subscription.delivery.get());
    if (status == NATS_OK)
        status = natsSubscription_SetPendingLimits(made, pending_messages_most, pending_bytes_most);
    if (status != NATS_OK) refuse(subject, text_of(status));
}

void NatsSession::unsubscribe(Subscription& subscription) {
    if (!subscription.handle) return;
    natsSubscription_Unsubscribe(subscription.handle.get());
    if (!wait_for([&] { return subscription.delivery->complete.load(); }, callbacks_end_within)) {
        static_cast<void>(new std::shared_ptr<void>{keep_});
        static_cast<void>(subscription.delivery.release());
    }
    subscription.handle.reset();
    subscription.delivery.reset();
}

bool NatsSession::subscribe_missing() {
    for (std::size_t i = 0; i < subscriptions_.size(); ++i) {
        Subscription& subscription = subscriptions_[i];
        if (subscription.handle && !subscription.refused) continue;
        static_cast<void>(overrun());
        unsubscribe(subscription);
        subscribe(i);
        // The server answers in order: a refusal comes before the answer to this.
        if (natsConnection_FlushTimeout(connection_.get(), flush_ms) != NATS_OK) return false;
        // The connection only says that something was refused, now or earlier; what, the callback does.
        if (!last_error(connection_.get()).empty())
            wait_for([&] { return shared_->errors.read_available() > 0; }, refusal_within);
        note_errors();
    }
    return true;
}

void NatsSession::note_errors() {
    for (std::string text; shared_->errors.pop(text);) {
        bool named = false;
        for (std::size_t i = 0; i < subjects_.size(); ++i) {
            if (!names(text, subjects_[i])) continue;
            refuse(i, text);
            named = true;
        }
        if (!named) complaint_ = text;
    }
}

void NatsSession::refuse(std::size_t subject, const std::string& why) {
    subscriptions_[subject].refused = true;
    refusal_ = why;
}

std::string NatsSession::lost() const {
    if (!shared_->closed) return {};
    const std::string why = last_error(connection_.get());
    return why.empty() ? "the connection is closed" : why;
}

std::vector<std::size_t> NatsSession::refused() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < subscriptions_.size(); ++i) {
        if (subscriptions_[i].refused) out.push_back(i);
    }
    return out;
}

std::uint64_t NatsSession::overrun() {
    for (Subscription& subscription : subscriptions_) {
        std::int64_t dropped = 0;
        if (!subscription.handle ||
            natsSubscription_GetDropped(subscription.handle.get(), &dropped) != NATS_OK) {
            continue;
        }
        overrun_ += static_cast<std::uint64_t>(dropped) - subscription.dropped;
        subscription.dropped = static_cast<std::uint64_t>(dropped);
    }
    return overrun_;
}

std::uint64_t NatsSession::take_overrun() {
    static_cast<void>(overrun());
    return std::exchange(overrun_, 0);
}

}  // namespace dynaplan::bus
