#include "net/retry.hpp"

#include <doctest/doctest.h>

#include "net/line_splitter.hpp"
#include "net/rate_limit.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using std::chrono::milliseconds;

TEST_CASE("back-off: doubles up to its bound, and begins again after a success") {
    Backoff backoff{{milliseconds{100}, milliseconds{350}, 2, 0.5, 0}, [] { return 0.0; }};
    CHECK(backoff.next() == milliseconds{100});
    CHECK(backoff.next() == milliseconds{200});
    CHECK(backoff.next() == milliseconds{350});
    CHECK(backoff.next() == milliseconds{350});
    backoff.reset();
    CHECK(backoff.next() == milliseconds{100});
}

TEST_CASE("back-off: jitter only shortens, by the share that was given, and comes from the caller") {
    double random = 0.5;
    Backoff backoff{{milliseconds{100}, milliseconds{100}, 2, 0.2, 0}, [&] { return random; }};
    CHECK(backoff.next() == milliseconds{90});
    random = 1e9;  // a source that breaks its promise must not make a negative delay
    CHECK(backoff.next() == milliseconds{80});
}

TEST_CASE("back-off: attempts are bounded") {
    Backoff backoff{{milliseconds{1}, milliseconds{1}, 2, 0, 2}, [] { return 0.0; }};
    CHECK(backoff.next());
    CHECK(backoff.next());
    CHECK_FALSE(backoff.next());
    backoff.reset();
    CHECK(backoff.next());
}

TEST_CASE("worth repeating: no answer, too many, and a server that is away; not a refusal") {
    CHECK(worth_repeating(failure("broken")));
    for (const unsigned status : {429U, 502U, 503U, 504U}) CHECK(worth_repeating(error_response(status, "")));
    for (const unsigned status : {200U, 204U, 400U, 401U, 404U, 409U, 412U, 500U})
        CHECK_FALSE(worth_repeating(error_response(status, "")));
}

TEST_CASE("rate: a burst at once, then the steady rate, never more than the burst saved up") {
    TokenBucket bucket{10, 3};
    TokenBucket::Time now{std::chrono::seconds{100}};
    for (int i = 0; i < 3; ++i) CHECK(bucket.take(now));
    CHECK_FALSE(bucket.take(now));
    now += milliseconds{100};
    CHECK(bucket.take(now));
    CHECK_FALSE(bucket.take(now));
    now += std::chrono::hours{1};
    for (int i = 0; i < 3; ++i) CHECK(bucket.take(now));
    CHECK_FALSE(bucket.take(now));
}

TEST_CASE("rate: 0 is no bound") {
    TokenBucket bucket{0, 0};
    for (int i = 0; i < 1000; ++i) CHECK(bucket.take({}));
}

TEST_CASE("lines: whatever the pieces are, the lines are the same") {
    const std::string text = "one\n\ntwo\r\nthree";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        LineSplitter lines{5};
        std::vector<std::string> got;
        for (std::size_t at = 0; at < text.size(); at += size) {
            CHECK(lines.put(std::string_view{text}.substr(at, size), [&](std::string_view line) {
                got.emplace_back(line);
                return true;
            }));
        }
        CHECK(got == std::vector<std::string>{"one", "", "two"});
        CHECK(lines.rest() == "three");
    }
}

TEST_CASE("lines: too long is told, stopping is obeyed") {
    LineSplitter lines{3};
    CHECK_FALSE(lines.put("abcd", [](std::string_view) { return true; }));
    LineSplitter other{3};
    int count = 0;
    CHECK(other.put("a\nb\nc\n", [&](std::string_view) { return ++count < 2; }));
    CHECK(count == 2);
}
