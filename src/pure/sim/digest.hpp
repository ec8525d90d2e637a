// A number that stands for a sequence of events and effects: two runs are the same when their digests are.
// Each field that decides anything is mixed in by xor, multiplication with an odd constant and a shift, which
// loses nothing of the state before; doubles by their bits. Equal on machines of one byte order.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "core/effect.hpp"
#include "core/event.hpp"

namespace dynaplan::sim {

class Digest {
public:
    void add(const Event& e);
    void add(const Effect& e);
    [[nodiscard]] std::uint64_t value() const { return hash_; }

private:
    template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void put(T v) {
        static_assert(sizeof(T) <= sizeof(std::uint64_t));
        std::uint64_t word = 0;
        std::memcpy(&word, &v, sizeof(T));
        hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15U;
        hash_ ^= hash_ >> 32U;
    }
    void put(const std::string& v);
    void put(TimePoint v) { put(v.time_since_epoch().count()); }
    template <class Rep, class Period>
    void put(std::chrono::duration<Rep, Period> v) {
        put(v.count());
    }
    template <class Tag, class Rep>
    void put(Quantity<Tag, Rep> v) {
        put(v.count());
    }
    template <class T>
    void put(const std::optional<T>& v) {
        put(v.has_value());
        if (v) put(*v);
    }
    void put(const EngineKey& v);
    void put(const Capabilities& v);
    void put(const ForwardPass& v);
    void put(const Traffic& v);
    void put(const Diagnostics& v);
    void body(const EventBody& b);
    void body(const EffectBody& b);

    std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace dynaplan::sim
