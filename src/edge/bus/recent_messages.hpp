// The messages that came last, to know one that comes again over another way. Bounded: the oldest is
// forgotten.
//
// A message is its publisher, its sequence and its payload. The payload counts because April's publishers of
// one process share an id and count each for itself (event plane specification 3): their pairs repeat, their
// payloads do not. The loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "wire/envelope.hpp"

namespace dynaplan::bus {

class RecentMessages {
public:
    explicit RecentMessages(std::size_t most) : most_{most} { order_.reserve(most); }

    // True when this very message has come before.
    bool seen(const wire::Envelope& message) {
        const Key key{message.publisher_id, message.sequence, std::hash<std::string_view>{}(message.payload)};
        if (!known_.insert(key).second) return true;
        if (order_.size() < most_) {
            order_.push_back(key);
        } else {
            known_.erase(order_[oldest_]);
            order_[oldest_] = key;
            oldest_ = (oldest_ + 1) % most_;
        }
        return false;
    }

private:
    struct Key {
        std::uint64_t publisher_id;
        std::uint64_t sequence;
        std::size_t payload;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& k) const {
            constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;  // spreads ids that differ in a few bits
            return static_cast<std::size_t>((k.publisher_id * golden + k.sequence) * golden) ^ k.payload;
        }
    };

    std::size_t most_;
    std::unordered_set<Key, Hash> known_;
    std::vector<Key> order_;  // a ring once it is full
    std::size_t oldest_ = 0;
};

}  // namespace dynaplan::bus
