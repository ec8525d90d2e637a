// How long to wait before a request is tried again: exponential, bounded, and spread by jitter so that
// clients that failed together do not come back together. Nothing random hides here: the caller hands in the
// source.
//
// The waiting itself is the caller's (a timer on its loop).
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "core/result.hpp"
#include "net/http_message.hpp"

namespace dynaplan::net {

struct BackoffOptions {
    std::chrono::milliseconds first{100};
    std::chrono::milliseconds max{5000};
    double factor = 2;
    double jitter = 0.2;   // a delay d becomes one out of [d * (1 - jitter), d]
    int attempts_max = 0;  // delays that are handed out until reset(); 0: without end
};

class Backoff {
public:
    // `random` gives a number in [0, 1).
    Backoff(BackoffOptions options, std::function<double()> random);

    // The delay before the next attempt; nothing when all attempts are used up.
    [[nodiscard]] std::optional<std::chrono::milliseconds> next();
    // After a success: begin with the shortest delay again.
    void reset();

private:
    BackoffOptions options_;
    std::function<double()> random_;
    double delay_ms_;
    int attempts_ = 0;
};

// May the same request succeed later: no answer at all, or 429, 502, 503, 504? Whether it may be repeated
// without harm is for the caller to know.
[[nodiscard]] bool worth_repeating(const Result<HttpResponse>& answer);

}  // namespace dynaplan::net
