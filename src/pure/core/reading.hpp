// A value read from outside is known, known to be idle, or unknown; the three are never mixed (DESIGN: idea
// 3). A failed query is unknown, not zero. A readable zero is idle, not a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace dynaplan {

enum class Knowledge : std::uint8_t { unknown, idle, known };

template <class T>
class Reading {
public:
    static Reading unknown() { return Reading{}; }
    static Reading idle() {
        Reading r;
        r.knowledge_ = Knowledge::idle;
        return r;
    }
    static Reading known(T value) {
        Reading r;
        r.knowledge_ = Knowledge::known;
        r.value_ = std::move(value);
        return r;
    }

    [[nodiscard]] Knowledge knowledge() const { return knowledge_; }
    [[nodiscard]] bool is_known() const { return knowledge_ == Knowledge::known; }
    [[nodiscard]] bool is_idle() const { return knowledge_ == Knowledge::idle; }
    [[nodiscard]] bool is_unknown() const { return knowledge_ == Knowledge::unknown; }
    // Only for a known reading.
    [[nodiscard]] const T& value() const { return *value_; }

    template <class Archive>
    void archive(Archive& a) {
        a(knowledge_, value_);
    }

private:
    Knowledge knowledge_ = Knowledge::unknown;
    std::optional<T> value_;
};

}  // namespace dynaplan
