// Finds the number under which a key is kept: an open hash table of numbers, beside a list of the keys
// themselves that the caller owns. A look-up is one hash and, as a rule, one comparison of keys; it allocates
// nothing. Numbers are below 2^32 - 1. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace dynaplan::plan {

class KeyTable {
public:
    // is_it(number): whether that number's key is the one that is looked for.
    [[nodiscard]] std::optional<std::uint32_t> find(std::size_t hash, auto&& is_it) const {
        if (slots_.empty()) return std::nullopt;
        const auto mark = mark_of(hash);
        for (std::size_t i = home(hash);; i = next(i)) {
            const Slot& slot = slots_[i];
            if (slot.number == none) return std::nullopt;
            if (slot.mark == mark && is_it(slot.number)) return slot.number;
        }
    }

    // The key must not be in the table yet.
    void insert(std::size_t hash, std::uint32_t number) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        place({mark_of(hash), number});
        ++size_;
    }

    // The number must be in the table. What stands behind it closes the gap, so that searches need no tombs.
    void erase(std::size_t hash, std::uint32_t number) {
        std::size_t gap = home(hash);
        while (slots_[gap].number != number) gap = next(gap);
        for (std::size_t i = next(gap); slots_[i].number != none; i = next(i)) {
            const std::size_t from_home = (i - home(slots_[i].mark)) & (slots_.size() - 1);
            const std::size_t from_gap = (i - gap) & (slots_.size() - 1);
            if (from_home < from_gap) continue;
            slots_[gap] = slots_[i];
            gap = i;
        }
        slots_[gap] = Slot{};
        --size_;
    }

    void clear() {
        slots_.clear();
        size_ = 0;
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    static constexpr std::uint32_t none = UINT32_MAX;
    struct Slot {
        std::uint32_t mark = 0;  // the low half of the hash: where its home is, and nearly its identity
        std::uint32_t number = none;
    };
    static std::uint32_t mark_of(std::size_t hash) { return static_cast<std::uint32_t>(hash); }
    [[nodiscard]] std::size_t home(std::size_t hash) const { return mark_of(hash) & (slots_.size() - 1); }
    [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

    void place(const Slot& slot) {
        std::size_t i = home(slot.mark);
        while (slots_[i].number != none) i = next(i);
        slots_[i] = slot;
    }
    void grow() {
        constexpr std::size_t first_size = 16;
        std::vector<Slot> old(slots_.empty() ? first_size : 2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.number != none) place(slot);
        }
    }

    std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
    std::size_t size_ = 0;
};

}  // namespace dynaplan::plan
