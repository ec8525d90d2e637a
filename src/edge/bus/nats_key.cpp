#include "bus/nats_key.hpp"

#include <cstdint>
#include <memory>
#include <optional>

#include <openssl/evp.h>

namespace dynaplan::bus {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";  // RFC 4648, no padding
constexpr std::size_t key_bytes = 32;
constexpr std::size_t checksum_bytes = 2;
constexpr std::size_t seed_letters = 58;
// A kind is a letter of the alphabet, so that the text begins with it: its number in the upper five bits.
constexpr unsigned kind_of_seed = 18U << 3U;  // S
constexpr unsigned kind_of_user = 20U << 3U;  // U

std::optional<std::string> from_base32(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const std::size_t value = alphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        bits = (bits << 5U) | static_cast<std::uint32_t>(value);
        count += 5;
        if (count >= 8) {
            count -= 8;
            bytes += static_cast<char>(static_cast<unsigned char>(bits >> count));
        }
    }
    return bytes;
}

std::string to_base32(std::string_view bytes) {
    std::string text;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : bytes) {
        bits = (bits << 8U) | static_cast<unsigned char>(c);
        for (count += 8; count >= 5;) {
            count -= 5;
            text += alphabet[(bits >> count) & 31U];
        }
    }
    if (count > 0) text += alphabet[(bits << (5 - count)) & 31U];
    return text;
}

// CRC-16 with the polynomial x^16 + x^12 + x^5 + 1, the lower byte first.
std::string checksum(std::string_view bytes) {
    std::uint32_t crc = 0;
    for (const char c : bytes) {
        crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 8U;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
        crc &= 0xffffU;
    }
    return {static_cast<char>(static_cast<unsigned char>(crc)),
            static_cast<char>(static_cast<unsigned char>(crc >> 8U))};
}

}  // namespace

Result<std::string> nats_public_key(std::string_view seed) {
    const auto wrong = [] {
        return failure(
            "the NATS nkey is no user's seed: it begins with SU and has 58 characters of A-Z, 2-7");
    };
    const auto raw = from_base32(seed);
    if (!raw || seed.size() != seed_letters || raw->size() != 2 + key_bytes + checksum_bytes) return wrong();
    const std::string_view body = std::string_view{*raw}.substr(0, 2 + key_bytes);
    if (raw->substr(body.size()) != checksum(body)) return wrong();
    const auto first = static_cast<unsigned char>(body[0]);
    const auto second = static_cast<unsigned char>(body[1]);
    const unsigned kind = ((first & 7U) << 5U) | (second >> 3U);
    if ((first & 0xf8U) != kind_of_seed || kind != kind_of_user) return wrong();

    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                     reinterpret_cast<const unsigned char*>(body.data()) + 2, key_bytes),
        &EVP_PKEY_free};
    std::string text(1 + key_bytes, static_cast<char>(kind_of_user));
    std::size_t size = key_bytes;
    if (!key || EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(text.data()) + 1,
                                            &size) != 1) {
        return failure("this OpenSSL has no Ed25519, which a NATS nkey needs");
    }
    return to_base32(text + checksum(text));
}

}  // namespace dynaplan::bus
