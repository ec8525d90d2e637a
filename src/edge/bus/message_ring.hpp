// Messages from one thread to another, whole, in order, bounded in bytes. What finds no room is dropped (a
// ring for one producer cannot drop its oldest) and counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <boost/lockfree/spsc_queue.hpp>

namespace dynaplan::bus {

class MessageRing {
public:
    explicit MessageRing(std::size_t bytes) : bytes_{bytes} {}
    // The queue's own destructor would take out what is left byte by byte, millions of them.
    ~MessageRing() { bytes_.reset(); }
    MessageRing(const MessageRing&) = delete;
    MessageRing& operator=(const MessageRing&) = delete;

    // The producer's thread. False: dropped.
    bool push(std::string_view message) {
        if (message.size() > message_bytes_most || bytes_.write_available() < head_bytes + message.size()) {
            dropped_.fetch_add(1, std::memory_order_relaxed);
            return false;
        }
        std::array<char, head_bytes> head{};
        const auto size = static_cast<std::uint32_t>(message.size());
        std::memcpy(head.data(), &size, head_bytes);
        bytes_.push(head.data(), head_bytes);
        bytes_.push(message.data(), message.size());
        return true;
    }

    // The consumer's thread. False: there is no whole message.
    bool pop(std::string& message) {
        if (!announced_) {
            if (bytes_.read_available() < head_bytes) return false;
            std::array<char, head_bytes> head{};
            bytes_.pop(head.data(), head_bytes);
            std::uint32_t size = 0;
            std::memcpy(&size, head.data(), head_bytes);
            announced_ = size;
        }
        if (bytes_.read_available() < *announced_) return false;
        message.resize(*announced_);
        bytes_.pop(message.data(), message.size());
        announced_.reset();
        return true;
    }
    [[nodiscard]] bool empty() const { return !announced_ && bytes_.read_available() == 0; }
    // Those since the last call.
    [[nodiscard]] std::uint64_t take_dropped() { return dropped_.exchange(0, std::memory_order_relaxed); }

private:
    static constexpr std::size_t head_bytes = sizeof(std::uint32_t);
    static constexpr std::size_t message_bytes_most = std::size_t{1} << 20U;  // a report takes some 500

    boost::lockfree::spsc_queue<char> bytes_;
    std::optional<std::uint32_t> announced_;  // the consumer's
    std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace dynaplan::bus
