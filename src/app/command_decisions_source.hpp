// Where the scheduler's commands read decisions and answer them: a planner over HTTP, or the keys in etcd.
//
// The loop's thread. Each call answers exactly once, from the loop, never from within the call; after stop()
// nothing is answered any more.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "core/result.hpp"

namespace dynaplan::app {

// A decision as a scheduler sees it.
struct SeenDecision {
    DecisionId id = -1;
    std::string state;  // empty: over so long ago that nothing more is known
    std::optional<std::int64_t> prefill;
    std::optional<std::int64_t> decode;
    std::string reason;        // empty: none was given
    std::string published_at;  // ISO 8601; empty: not known
    std::string json;          // all of it, one line

    [[nodiscard]] bool open() const { return state == "published"; }
};

// The newest decision, and whether that can be relied on: a planner that stands by, or has not read its store
// yet, may know an older one.
struct Standing {
    bool leading = false;
    std::optional<SeenDecision> newest;
};

// Why there is no answer.
struct Trouble {
    enum class Kind : std::uint8_t {
        unreachable,  // nobody answered
        unavailable,  // it answered: not now (a stand-by, too many clients)
        refused,      // it will be the same the next time
    };
    Kind kind{};
    std::string message;

    [[nodiscard]] bool may_pass() const { return kind != Kind::refused; }
};

template <class T>
using Answer = tl::expected<T, Trouble>;

class DecisionSource {
public:
    template <class T>
    using Done = std::function<void(Answer<T>)>;

    DecisionSource() = default;
    DecisionSource(const DecisionSource&) = delete;
    DecisionSource& operator=(const DecisionSource&) = delete;
    virtual ~DecisionSource() = default;

    virtual void standing(Done<Standing>) = 0;
    // The oldest decision with a larger id; none when there was none within `wait`.
    virtual void next(DecisionId after, std::chrono::milliseconds wait,
                      Done<std::optional<SeenDecision>>) = 0;
    // Those that are kept, oldest first.
    virtual void all(Done<std::vector<SeenDecision>>) = 0;
    // None: not known, or too old to be kept.
    virtual void find(DecisionId, Done<std::optional<SeenDecision>>) = 0;
    // Completed or failed; answers with the decision as it then is. May be repeated without harm.
    virtual void settle(DecisionId, bool completed, Done<SeenDecision>) = 0;
    // Whether settle() can say "failed".
    [[nodiscard]] virtual bool knows_failure() const { return true; }
    virtual void stop() = 0;
};

}  // namespace dynaplan::app
