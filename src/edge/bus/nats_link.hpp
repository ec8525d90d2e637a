// The threads' side of NATS: one thread of its own connects, subscribes, watches over the connection, closes
// and begins anew, for ever, with a bounded pause between attempts; the library's threads bring the messages.
// None of them touches the loop: each subscription has a ring, reports on the connection have another, and a
// bell tells the loop to look.
//
// The object is shared between the loop and that thread. stop() waits for the thread, which is quick unless
// it hangs in the resolution of a name; then it is left behind with the object, and calls nobody.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <boost/lockfree/spsc_queue.hpp>

#include "bus/loop_bell.hpp"
#include "bus/message_ring.hpp"
#include "bus/nats_options.hpp"

namespace dynaplan::bus {

class NatsSession;

struct NatsReport {
    bool linked = false;
    std::string trouble;               // one line; empty when nothing is wrong
    std::string error;                 // the cause to count; empty: nothing new has failed
    std::vector<std::size_t> refused;  // subjects that the server does not let us have
    std::uint64_t overrun = 0;         // messages that the library has dropped since the last report
};

class NatsLink : public std::enable_shared_from_this<NatsLink> {
public:
    NatsLink(NatsOptions options, std::vector<std::string> subjects, std::size_t ring_bytes);

    // The loop's thread.
    void start();
    void stop(std::chrono::milliseconds patience);
    [[nodiscard]] LoopBell& bell() { return bell_; }
    [[nodiscard]] MessageRing& ring(std::size_t subject) { return *rings_[subject]; }
    [[nodiscard]] bool take(NatsReport& report) { return reports_.pop(report); }

private:
    void run();
    NatsReport attempt();
    void watch(NatsSession&);
    void report(const NatsReport&);
    [[nodiscard]] NatsReport failed(const std::string& why, std::string cause) const;
    [[nodiscard]] NatsReport state(NatsSession&, std::string cause) const;

    const NatsOptions options_;
    const std::vector<std::string> subjects_;
    std::vector<std::unique_ptr<MessageRing>> rings_;
    boost::lockfree::spsc_queue<NatsReport> reports_;
    LoopBell bell_;
    std::atomic<bool> stopping_{false};
    std::counting_semaphore<> wake_{
        0};  // for the thread: something has happened to its connection, or stop()
    std::thread thread_;
    std::future<void> ended_;
    std::chrono::milliseconds pause_{};  // the thread's
};

}  // namespace dynaplan::bus
