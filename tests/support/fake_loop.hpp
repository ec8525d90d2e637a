// A loop thread for tests: tasks are posted from anywhere and run by the test, one by one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

namespace dynaplan::support {

class FakeLoop {
public:
    void post(std::function<void()> task) {
        {
            const std::scoped_lock lock{mutex_};
            tasks_.push_back(std::move(task));
        }
        posted_.notify_one();
    }
    // Runs the next task, waiting for one where there is none; false when none came in time.
    bool run_one(std::chrono::milliseconds limit = std::chrono::seconds{20}) {
        std::function<void()> task;
        {
            std::unique_lock lock{mutex_};
            if (!posted_.wait_for(lock, limit, [this] { return !tasks_.empty(); })) return false;
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task();
        return true;
    }
    [[nodiscard]] bool empty() {
        const std::scoped_lock lock{mutex_};
        return tasks_.empty();
    }

private:
    std::mutex mutex_;
    std::condition_variable posted_;
    std::deque<std::function<void()>> tasks_;
};

}  // namespace dynaplan::support
