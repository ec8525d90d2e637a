#include "fuzz/generator.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

namespace dynaplan::fuzz {

namespace {

std::string big_endian(std::uint64_t value, unsigned bytes) {
    std::string out;
    for (unsigned i = bytes; i > 0; --i) out += static_cast<char>(value >> (8 * (i - 1)));
    return out;
}

std::string head(unsigned byte) { return {static_cast<char>(byte)}; }

class Writer {
public:
    explicit Writer(Dice& dice) : dice_{dice} {}

    std::string message() {
        std::vector<std::pair<std::string, std::string>> pairs{
            {"version", version()},      {"worker_id", text(worker_id())},
            {"dp_rank", integer()},      {"counter_id", integer()},
            {"wall_time", real()},       {"scheduled_requests", block()},
            {"queued_requests", block()}};
        return map(vary(std::move(pairs)));
    }

private:
    using Pairs = std::vector<std::pair<std::string, std::string>>;

    // Leaves out, repeats, adds and swaps, each now and then.
    Pairs vary(Pairs pairs) {
        if (dice_.one_in(4)) pairs.erase(pairs.begin() + static_cast<long>(dice_.below(pairs.size())));
        if (dice_.one_in(4) && !pairs.empty()) {
            auto repeated = pairs[dice_.below(pairs.size())];
            if (dice_.one_in(2)) repeated.second = integer();
            pairs.push_back(std::move(repeated));
        }
        if (dice_.one_in(3)) pairs.emplace_back(dice_.one_in(20) ? "key\xff" : "extra", anything(0));
        if (dice_.one_in(3) && pairs.size() > 1) {
            std::swap(pairs[dice_.below(pairs.size())], pairs[dice_.below(pairs.size())]);
        }
        if (dice_.one_in(30) && !pairs.empty()) pairs[dice_.below(pairs.size())].second = anything(0);
        return pairs;
    }

    std::string block() {
        constexpr std::array<const char*, 7> names{
            "num_prefill_requests", "sum_prefill_tokens",   "var_prefill_length",  "sum_prefill_kv_tokens",
            "num_decode_requests",  "sum_decode_kv_tokens", "var_decode_kv_tokens"};
        Pairs pairs;
        for (const std::string name : names) {
            pairs.emplace_back(name, name.starts_with("var") ? real() : integer());
        }
        return map(vary(std::move(pairs)));
    }

    std::string map(const Pairs& pairs) {
        std::string out = count(pairs.size(), 0x80, 0xde);
        for (const auto& [key, value] : pairs) out.append(text(key)).append(value);
        return out;
    }

    // A container's head, in a form that can hold the count, not always the smallest.
    std::string count(std::size_t n, unsigned fixed, unsigned wide) {
        if (n < 16 && !dice_.one_in(8)) return head(fixed | static_cast<unsigned>(n));
        return dice_.one_in(2) ? head(wide) + big_endian(n, 2) : head(wide + 1) + big_endian(n, 4);
    }

    // The head of a bin or an extension with a length of one, two or four bytes.
    std::string with_length(unsigned first, std::size_t n) {
        const auto width = static_cast<unsigned>(dice_.below(3));
        return head(first + width) + big_endian(n, 1U << width);
    }

    std::string text(std::string_view value) {
        const std::size_t n = value.size();
        std::string out;
        switch (dice_.below(8)) {
            case 0: out = head(0xd9) + big_endian(n, 1); break;
            case 1: out = head(0xda) + big_endian(n, 2); break;
            case 2: out = head(0xdb) + big_endian(n, 4); break;
            default: out = n < 32 ? head(0xa0U | static_cast<unsigned>(n)) : head(0xd9) + big_endian(n, 1);
        }
        return out.append(value);
    }

    std::string worker_id() {
        constexpr std::array<const char*, 6> ids{"7587890125863921413",
                                                 "",
                                                 "w\xc3\xa4hler",
                                                 "worker-\xff",
                                                 "an id that needs a longer header than most",
                                                 "\xf0\x9f\x98\x80"};
        return dice_.one_in(4) ? ids[dice_.below(ids.size())] : std::to_string(dice_.bits());
    }

    std::string version() {
        if (dice_.one_in(20)) return integer();
        return dice_.one_in(8) ? head(0xd3) + big_endian(1, 8) : head(1);
    }

    std::string integer() {
        const std::uint64_t any = dice_.bits();
        switch (dice_.below(12)) {
            case 0: return head(0xe0U | static_cast<unsigned>(any % 32));
            case 1: return head(0xcc) + big_endian(any, 1);
            case 2: return head(0xcd) + big_endian(any, 2);
            case 3: return head(0xce) + big_endian(any, 4);
            case 4: return head(0xcf) + big_endian(dice_.one_in(4) ? any : any >> 1U, 8);
            case 5: return head(0xd0) + big_endian(any, 1);
            case 6: return head(0xd1) + big_endian(any, 2);
            case 7: return head(0xd2) + big_endian(any, 4);
            case 8: return head(0xd3) + big_endian(any, 8);
            default: return head(static_cast<unsigned>(any % 128));
        }
    }

    std::string real() {
        const double value = static_cast<double>(dice_.below(1'000'000)) / 1024.0;
        switch (dice_.below(16)) {
            case 0: return integer();
            case 1:
                return head(0xca) + big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
            case 2: return head(0xcb) + big_endian(dice_.bits(), 8);
            case 3: return head(0xcb) + big_endian(std::bit_cast<std::uint64_t>(HUGE_VAL), 8);
            case 4: return head(0xcb) + big_endian(std::bit_cast<std::uint64_t>(-0.0), 8);
            default: return head(0xcb) + big_endian(std::bit_cast<std::uint64_t>(value), 8);
        }
    }

    std::string anything(unsigned depth) {
        const std::size_t n = dice_.below(4);
        switch (dice_.below(depth < 6 ? 11 : 8)) {
            case 0: return head(0xc0);
            case 1: return head(0xc2U + static_cast<unsigned>(dice_.below(2)));
            case 2: return integer();
            case 3: return real();
            case 4: return text("text \xff");
            case 5: return with_length(0xc4, n) + std::string(n, 'b');
            case 6: return with_length(0xc7, n) + std::string(n + 1, 'e');
            case 7: return head(0xd4U + static_cast<unsigned>(n)) + std::string((1U << n) + 1, 'e');
            default: break;
        }
        const bool pairs = dice_.one_in(2);
        std::string out = pairs ? count(n, 0x80, 0xde) : count(n, 0x90, 0xdc);
        for (std::size_t i = 0; i < (pairs ? 2 * n : n); ++i) out += anything(depth + 1);
        return out;
    }

    Dice& dice_;
};

}  // namespace

std::string random_message(Dice& dice) { return Writer{dice}.message(); }

std::string damaged(std::string bytes, Dice& dice) {
    for (std::uint64_t changes = 1 + dice.below(3); changes > 0; --changes) {
        const std::size_t at = dice.below(bytes.size() + 1);
        switch (dice.below(5)) {
            case 0:
                if (at < bytes.size()) bytes[at] = static_cast<char>(dice.bits());
                break;
            case 1:
                if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1U << dice.below(8)));
                break;
            case 2: bytes.insert(at, 1, static_cast<char>(dice.bits())); break;
            case 3: bytes.erase(at, 1 + dice.below(4)); break;
            default: bytes.resize(at); break;
        }
    }
    return bytes;
}

}  // namespace dynaplan::fuzz
