#include <doctest/doctest.h>

#include <string>

#include "wire/gzip.hpp"

namespace dynaplan::wire {
namespace {

constexpr std::size_t plenty = std::size_t{1} << 26U;

std::string some_text() {
    std::string text;
    for (int i = 0; i < 20000; ++i) text += "line " + std::to_string(i * 7919 % 10007) + "\n";
    return text;
}

TEST_CASE("gzip: a member holds its text, several members follow each other") {
    const std::string text = some_text();
    CHECK(gunzip(gzip_member(text), plenty) == text);
    CHECK(gunzip(gzip_member("a") + gzip_member("") + gzip_member(text), plenty) == "a" + text);
    CHECK(gzip_member(text).size() < text.size() / 2);
    CHECK(gzip_member(text) == gzip_member(text));
    CHECK(gunzip("", plenty) == "");
}

TEST_CASE("gzip: cut, damaged and foreign bytes are an answer") {
    const std::string member = gzip_member(some_text());
    CHECK_FALSE(gunzip(member.substr(0, member.size() - 1), plenty));
    CHECK_FALSE(gunzip(member + "x", plenty));
    CHECK_FALSE(gunzip("plain text", plenty));
    std::string damaged = member;
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // in the checksum
    CHECK_FALSE(gunzip(damaged, plenty));
}

TEST_CASE("gzip: the limit is on the text, not on the bytes") {
    const std::string bomb = gzip_member(std::string(1'000'000, '0'));
    CHECK(bomb.size() < 2000);
    CHECK_FALSE(gunzip(bomb, 999'999));
    CHECK(gunzip(bomb, 1'000'000).has_value());
}

TEST_CASE("gzip: a member can come in single bytes and leave through a small door") {
    const std::string text = some_text();
    const std::string member = gzip_member(text);
    GzipInflater inflater;
    inflater.begin_member();
    std::string out;
    char room[7];
    std::size_t at = 0;
    auto status = GzipInflater::Status::more_input;
    while (status != GzipInflater::Status::member_end) {
        REQUIRE(at <= member.size());
        const std::size_t piece = at < member.size() ? 1 : 0;
        const auto progress =
            inflater.inflate(std::string_view{member}.substr(at, piece), room, sizeof(room));
        REQUIRE(progress.status != GzipInflater::Status::bad_data);
        at += progress.used;
        out.append(room, progress.produced);
        status = progress.status;
    }
    CHECK(out == text);
}

}  // namespace
}  // namespace dynaplan::wire
