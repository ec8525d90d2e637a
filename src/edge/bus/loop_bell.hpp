// Wakes the loop from another thread, once for all that has come since it last looked.
//
// A descriptor instead of a post, because it outlives the loop: a thread that is late rings a bell that
// nobody hears any more.
#pragma once

#include <atomic>

#include <sys/eventfd.h>
#include <unistd.h>

#include "core/assert.hpp"

namespace dynaplan::bus {

class LoopBell {
public:
    LoopBell() : fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} { DYNAPLAN_ASSERT(fd_ >= 0); }
    ~LoopBell() { ::close(fd_); }
    LoopBell(const LoopBell&) = delete;
    LoopBell& operator=(const LoopBell&) = delete;

    // Any thread, after what it has to hand over.
    void ring() {
        if (!rung_.exchange(true)) ::eventfd_write(fd_, 1);
    }
    // The loop, before it takes what was handed over.
    void heard() {
        eventfd_t ignored = 0;
        ::eventfd_read(fd_, &ignored);
        rung_.exchange(false);
    }
    // Readable after a ring. The caller's own copy.
    [[nodiscard]] int descriptor() const { return ::dup(fd_); }

private:
    int fd_;
    std::atomic<bool> rung_{false};
};

}  // namespace dynaplan::bus
