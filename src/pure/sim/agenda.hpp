// What happens next in a simulated fleet: a heap of dated items, equal times in the order in which they were
// put in, and places to leave what an item carries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/assert.hpp"
#include "core/units.hpp"

namespace dynaplan::sim {

enum class Kind : std::uint8_t {
    arrival,
    pass_end,       // index: engine
    heartbeat,      // index: engine, epoch: of its idleness
    handover,       // index: request in transfer
    replica_ready,  // index: replica
    fault,          // index: fault that begins or ends
    inventory,
    acknowledge,  // index: acknowledgement
    traffic,      // index: question
    deliver,      // index: event held back
};

struct AgendaItem {
    TimePoint at{};
    std::uint64_t order = 0;
    Kind kind{};
    std::uint32_t index = 0;
    std::uint32_t epoch = 0;
};

class Agenda {
public:
    void put(TimePoint at, Kind kind, std::uint32_t index = 0, std::uint32_t epoch = 0) {
        heap_.push_back({at, order_++, kind, index, epoch});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }
    [[nodiscard]] std::optional<TimePoint> next() const {
        return heap_.empty() ? std::nullopt : std::optional{heap_.front().at};
    }
    AgendaItem take() {
        DYNAPLAN_ASSERT(!heap_.empty());
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const AgendaItem item = heap_.back();
        heap_.pop_back();
        return item;
    }

private:
    static bool later(const AgendaItem& a, const AgendaItem& b) {
        return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
    std::vector<AgendaItem> heap_;
    std::uint64_t order_ = 0;
};

// Numbered places, used again once they are empty.
template <class T>
class Places {
public:
    std::uint32_t put(T value) {
        if (free_.empty()) {
            values_.push_back(std::move(value));
            return static_cast<std::uint32_t>(values_.size() - 1);
        }
        const std::uint32_t i = free_.back();
        free_.pop_back();
        values_[i] = std::move(value);
        return i;
    }
    T take(std::uint32_t i) {
        free_.push_back(i);
        return std::move(values_[i]);
    }

private:
    std::vector<T> values_;
    std::vector<std::uint32_t> free_;
};

}  // namespace dynaplan::sim
