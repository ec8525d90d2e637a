// State as plain bytes. A class that holds state lists its members once, in `template <class A> void
// archive(A& a)`, and is saved by a StateWriter and restored by a StateReader walking the same list.
// Little-endian, no padding; the version stands in front (plan/planner). A reader that runs out of bytes, or
// meets a count that the rest cannot hold, fails for good and leaves zeros: ask ok() at the end, then use the
// result or not at all.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace dynaplan {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, __int128>;

template <class Self>
class ArchiveBase {
public:
    static constexpr bool is_archive = true;

    template <class... Ts>
    void operator()(Ts&... members) {
        (one(members), ...);
    }

private:
    Self& self() { return static_cast<Self&>(*this); }

    template <Plain T>
    void one(T& v) {
        self().plain(v);
    }
    void one(std::string& v) { self().text(v); }
    template <class Rep, class Period>
    void one(std::chrono::duration<Rep, Period>& v) {
        Rep r = v.count();
        one(r);
        v = std::chrono::duration<Rep, Period>{r};
    }
    template <class Clock, class Duration>
    void one(std::chrono::time_point<Clock, Duration>& v) {
        Duration d = v.time_since_epoch();
        one(d);
        v = std::chrono::time_point<Clock, Duration>{d};
    }
    template <class T>
    void one(std::optional<T>& v) {
        bool has = v.has_value();
        one(has);
        if constexpr (Self::reading) {
            if (has) {
                v.emplace();
            } else {
                v.reset();
            }
        }
        if (has) one(*v);
    }
    template <class A, class B>
    void one(std::pair<A, B>& v) {
        one(v.first);
        one(v.second);
    }
    template <class T, std::size_t n>
    void one(std::array<T, n>& v) {
        for (T& x : v) one(x);
    }
    template <class T>
    void one(std::vector<T>& v) {
        list(v);
    }
    template <class T>
    void one(std::deque<T>& v) {
        list(v);
    }
    template <class... Ts>
    void one(std::variant<Ts...>& v) {
        auto index = static_cast<std::uint8_t>(v.index());
        one(index);
        if constexpr (Self::reading) self().template choose<Ts...>(v, index);
        std::visit([this](auto& x) { this->one(x); }, v);
    }
    void one(std::monostate&) {}
    template <class T>
    requires requires(T& t, Self& a) { t.archive(a); }
    void one(T& v) { v.archive(self()); }
    template <class List>
    void list(List& v) {
        auto n = static_cast<std::uint64_t>(v.size());
        one(n);
        if constexpr (Self::reading) {
            if (!self().holds(n)) return;
            v.clear();
            v.resize(static_cast<std::size_t>(n));
        }
        for (auto& x : v) {
            if constexpr (Self::reading) {
                if (!self().ok()) return;
            }
            one(x);
        }
    }
};

class StateWriter : public ArchiveBase<StateWriter> {
public:
    static constexpr bool reading = false;
    [[nodiscard]] std::string take() { return std::move(bytes_); }

    template <Plain T>
    void plain(const T& v) {
        std::array<char, sizeof(T)> raw{};
        std::memcpy(raw.data(), &v, sizeof(T));
        bytes_.append(raw.data(), raw.size());
    }
    void text(const std::string& v) {
        plain(static_cast<std::uint64_t>(v.size()));
        bytes_.append(v);
    }

private:
    std::string bytes_;
};

class StateReader : public ArchiveBase<StateReader> {
public:
    static constexpr bool reading = true;
    explicit StateReader(std::string_view bytes) : rest_{bytes} {}
    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool at_end() const { return ok_ && rest_.empty(); }
    void fail() { ok_ = false; }

    template <Plain T>
    void plain(T& v) {
        v = T{};
        if (!ok_ || rest_.size() < sizeof(T)) {
            ok_ = false;
            return;
        }
        if constexpr (std::is_same_v<T, bool>) {
            v = rest_[0] != 0;
        } else {
            std::memcpy(&v, rest_.data(), sizeof(T));
        }
        rest_.remove_prefix(sizeof(T));
    }
    void text(std::string& v) {
        std::uint64_t n = 0;
        plain(n);
        v.clear();
        if (!holds(n)) return;
        v.assign(rest_.substr(0, static_cast<std::size_t>(n)));
        rest_.remove_prefix(static_cast<std::size_t>(n));
    }
    // Every element takes at least one byte, so a count beyond the rest is a lie, never an allocation.
    bool holds(std::uint64_t n) {
        if (ok_ && n <= rest_.size()) return true;
        ok_ = false;
        return false;
    }
    template <class... Ts>
    void choose(std::variant<Ts...>& v, std::uint8_t index) {
        if (index >= sizeof...(Ts)) {
            ok_ = false;
            index = 0;
        }
        std::uint8_t i = 0;
        ((i++ == index ? static_cast<void>(v.template emplace<Ts>()) : void()), ...);
    }

private:
    std::string_view rest_;
    bool ok_ = true;
};

}  // namespace dynaplan
