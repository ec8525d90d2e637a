// The right to answer one request, exactly once, now or later.
//
// A handler that has its answer calls answer(); one that waits for something (a long poll) keeps the Reply
// and calls it later. A Reply that is dropped unanswered sends 500, so that no client waits for nothing. When
// the client has gone, or the server is stopping, an answer goes nowhere and does no harm.
//
// The loop's thread only, like everything of the server.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "net/http_message.hpp"

namespace dynaplan::net {

// Where an answer goes; the server has one for each request.
class ReplyTarget {
public:
    ReplyTarget() = default;
    ReplyTarget(const ReplyTarget&) = delete;
    ReplyTarget& operator=(const ReplyTarget&) = delete;
    virtual ~ReplyTarget() = default;

    virtual void answer(HttpResponse response) = 0;
    virtual void on_gone(std::function<void()> callback) = 0;
};

class Reply {
public:
    explicit Reply(std::shared_ptr<ReplyTarget> target) : target_{std::move(target)} {}
    Reply(Reply&&) noexcept = default;
    Reply& operator=(Reply&& other) noexcept {
        if (this != &other) {
            drop();
            target_ = std::move(other.target_);
        }
        return *this;
    }
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;
    ~Reply() { drop(); }

    // A second answer is a mistake of ours and ends the process.
    void answer(HttpResponse response);

    // Called at most once, when nobody waits for the answer any longer: the client hung up, or the server has
    // answered in our place because it stops. The callback may drop the Reply. Never called after answer(). A
    // client that only closed its sending half counts as gone when a callback is set, else it still gets its
    // answer.
    void on_gone(std::function<void()> callback);

    [[nodiscard]] bool answered() const { return target_ == nullptr; }

private:
    void drop();

    std::shared_ptr<ReplyTarget> target_;
};

}  // namespace dynaplan::net
