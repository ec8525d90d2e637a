// The thread between the journal's bounded buffer and its files. One thread offers records and marks, never
// waiting; run(), on a thread of its own, writes them in order and syncs every so often.
//
// The buffer is a ring for one producer and one consumer. A mark is a place in the stream of records at which
// a new segment begins, or up to which somebody waits for the disk. It is put before the records behind it,
// so whoever sees those sees the mark as well.
//
// While the disk fails nothing is taken out of the ring, and what has been taken is tried again at each wake:
// so a short trouble costs nothing, and a long one fills the ring, which the producer sees.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>

#include <boost/lockfree/spsc_queue.hpp>

#include "observe/segment_writer.hpp"

namespace dynaplan::observe {

struct JournalMark {
    std::uint64_t position = 0;  // bytes of records before it
    bool begins_segment = false;
    std::uint64_t number = 0;  // of the segment
    std::string head;          // its first bytes
    std::promise<void> reached;
};

struct JournalWorkerOptions {
    std::size_t buffer_bytes = 0;
    std::size_t sync_bytes = 0;
    std::chrono::milliseconds sync_every{};
    std::chrono::duration<double> segment_age{};
    // Called on the worker's thread, when a new segment is due; may be called again before one came.
    std::function<void()> ask;
};

class JournalWorker {
public:
    JournalWorker(JournalWorkerOptions options, SegmentWriter writer, port::FileDescriptor folder);
    ~JournalWorker();
    JournalWorker(const JournalWorker&) = delete;
    JournalWorker& operator=(const JournalWorker&) = delete;

    // The producer's thread. False: there is no room, nothing was taken.
    [[nodiscard]] bool offer(std::string_view record);
    [[nodiscard]] bool offer(std::unique_ptr<JournalMark> mark);
    [[nodiscard]] std::uint64_t position() const { return offered_; }
    [[nodiscard]] bool half_empty() const;
    // Set while records are dropped: a new segment is asked for as soon as the ring is empty and the disk
    // works.
    void set_dropping(bool dropping) { dropping_ = dropping; }
    void wake();

    // Any thread.
    void stop();
    [[nodiscard]] DiskTrouble trouble() const;
    [[nodiscard]] std::future<void>& ended() { return ended_; }

    // The worker's thread, until stop(); then writes what is there, if the disk lets it.
    void run();

private:
    void work();
    bool drain();
    bool reach(std::unique_ptr<JournalMark> mark);
    [[nodiscard]] bool due_by_age() const;
    void publish_trouble();

    JournalWorkerOptions options_;
    SegmentWriter writer_;         // the worker's
    port::FileDescriptor folder_;  // carries the lock, given back when the worker has ended
    boost::lockfree::spsc_queue<char> ring_;
    boost::lockfree::spsc_queue<JournalMark*> marks_;
    std::uint64_t offered_ = 0;  // the producer's
    std::uint64_t wake_at_ = 0;
    std::uint64_t taken_ = 0;  // the worker's
    std::string piece_;
    bool failing_ = false;
    bool ask_again_ = false;
    std::chrono::steady_clock::time_point begun_;

    std::atomic<bool> dropping_{false};
    std::atomic<bool> stopping_{false};
    std::atomic<bool> woken_{false};
    std::atomic<std::uint64_t> trouble_{0};  // what in the upper, errno in the lower half
    std::counting_semaphore<> bell_{0};
    std::promise<void> end_;
    std::future<void> ended_;
};

}  // namespace dynaplan::observe
