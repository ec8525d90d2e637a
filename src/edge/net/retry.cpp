#include "net/retry.hpp"

#include <algorithm>
#include <utility>

namespace dynaplan::net {

Backoff::Backoff(BackoffOptions options, std::function<double()> random)
    : options_{options},
      random_{std::move(random)},
      delay_ms_{static_cast<double>(std::min(options.first, options.max).count())} {}

std::optional<std::chrono::milliseconds> Backoff::next() {
    if (options_.attempts_max > 0 && attempts_ >= options_.attempts_max) return std::nullopt;
    ++attempts_;
    const double share = 1 - std::clamp(options_.jitter, 0.0, 1.0) * std::clamp(random_(), 0.0, 1.0);
    const std::chrono::milliseconds delay{static_cast<std::chrono::milliseconds::rep>(delay_ms_ * share)};
    const double longer = delay_ms_ * std::max(1.0, options_.factor);
    delay_ms_ = std::min(static_cast<double>(options_.max.count()), longer);
    return delay;
}

void Backoff::reset() {
    attempts_ = 0;
    delay_ms_ = static_cast<double>(std::min(options_.first, options_.max).count());
}

bool worth_repeating(const Result<HttpResponse>& answer) {
    if (!answer) return true;
    const unsigned status = answer->status;
    return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace dynaplan::net
