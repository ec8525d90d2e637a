// One connection to NATS with its subscriptions, from connecting to the last callback. Only for
// nats_link.cpp, whose thread owns it; the library's threads call into it until its destructor has ended.
//
// A subscription that the server refuses is an error that comes later, on another thread, and is told apart
// only by the subject in its text (event plane specification 4.1: an asynchronous -ERR is a failed
// subscription).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include <boost/lockfree/spsc_queue.hpp>

#include "bus/loop_bell.hpp"
#include "bus/message_ring.hpp"
#include "bus/nats_library.hpp"

namespace dynaplan::bus {

class NatsSession {
public:
    // `keep` owns all that the other arguments refer to. Should the library not let go in time, what its
    // callbacks use is kept for ever, instead of being freed under them.
    NatsSession(std::shared_ptr<void> keep, std::counting_semaphore<>& wake, LoopBell& bell,
                const std::vector<std::string>& subjects, std::vector<MessageRing*> rings);
    ~NatsSession();
    NatsSession(const NatsSession&) = delete;
    NatsSession& operator=(const NatsSession&) = delete;

    // Blocks for the time-out of the settings at most.
    natsStatus connect(const NatsSettings&);
    // Subscribes to what is not, and asks the server for its opinion. False: it gives no answer.
    [[nodiscard]] bool subscribe_missing();
    // Takes up what the server has said since.
    void note_errors();

    // Why the connection is no more; empty while it is.
    [[nodiscard]] std::string lost() const;
    [[nodiscard]] std::vector<std::size_t> refused() const;
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    // What it has said about none of the subjects, since the last call.
    [[nodiscard]] std::string take_complaint() { return std::exchange(complaint_, {}); }
    // Messages that the library has dropped because we were too slow.
    [[nodiscard]] std::uint64_t overrun();
    [[nodiscard]] std::uint64_t take_overrun();

private:
    struct Shared;
    struct Delivery;
    struct Subscription {
        NatsSubscriptionPtr handle;
        std::unique_ptr<Delivery> delivery;
        bool refused = false;
        std::uint64_t dropped = 0;  // by the library, as far as it is counted
    };

    void subscribe(std::size_t subject);
    void unsubscribe(Subscription&);
    void refuse(std::size_t subject, const std::string& why);
    template <class Condition>
    bool wait_for(const Condition&, std::chrono::milliseconds patience);

    std::shared_ptr<void> keep_;
    std::counting_semaphore<>& wake_;
    LoopBell& bell_;
    const std::vector<std::string>& subjects_;
    std::vector<MessageRing*> rings_;
    std::unique_ptr<Shared> shared_;
    NatsConnectionPtr connection_;
    std::vector<Subscription> subscriptions_;
    std::string refusal_;
    std::string complaint_;
    std::uint64_t overrun_ = 0;
};

}  // namespace dynaplan::bus
