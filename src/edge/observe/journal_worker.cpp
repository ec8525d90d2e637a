#include "observe/journal_worker.hpp"

#include <algorithm>
#include <utility>

namespace dynaplan::observe {

namespace {

constexpr std::size_t piece_bytes = 256U << 10U;
// One for each segment that is begun while the worker is held up, and each flush.
constexpr std::size_t marks_max = 64;

}  // namespace

JournalWorker::JournalWorker(JournalWorkerOptions options, SegmentWriter writer, port::FileDescriptor folder)
    : options_{std::move(options)},
      writer_{std::move(writer)},
      folder_{std::move(folder)},
      ring_{options_.buffer_bytes},
      marks_{marks_max},
      failing_{static_cast<bool>(writer_.trouble())},
      begun_{std::chrono::steady_clock::now()},
      ended_{end_.get_future()} {
    publish_trouble();
}

JournalWorker::~JournalWorker() {
    JournalMark* mark = nullptr;
    while (marks_.pop(mark)) delete mark;
}

bool JournalWorker::offer(std::string_view record) {
    if (ring_.write_available() < record.size()) return false;
    ring_.push(record.data(), record.size());
    offered_ += record.size();
    if (offered_ >= wake_at_) {
        wake_at_ = offered_ + options_.sync_bytes;
        wake();
    }
    return true;
}

bool JournalWorker::offer(std::unique_ptr<JournalMark> mark) {
    mark->position = offered_;
    if (!marks_.push(mark.get())) return false;
    static_cast<void>(mark.release());
    wake();
    return true;
}

bool JournalWorker::half_empty() const { return ring_.write_available() >= options_.buffer_bytes / 2; }

void JournalWorker::wake() {
    if (!woken_.exchange(true)) bell_.release();
}

void JournalWorker::stop() {
    stopping_ = true;
    wake();
}

void JournalWorker::publish_trouble() {
    const DiskTrouble& t = writer_.trouble();
    trouble_ = (static_cast<std::uint64_t>(t.what) << 32U) | static_cast<std::uint32_t>(t.error);
}

DiskTrouble JournalWorker::trouble() const {
    const std::uint64_t v = trouble_;
    return {static_cast<DiskTrouble::What>(v >> 32U), static_cast<int>(v & 0xffffffffU)};
}

void JournalWorker::run() {
    while (!stopping_) {
        static_cast<void>(bell_.try_acquire_for(options_.sync_every));
        woken_ = false;
        work();
    }
    end_.set_value();
}

void JournalWorker::work() {
    if (failing_) {
        failing_ = !writer_.retry();
        // Whatever was wrong, a fresh segment shows where it ended, and a replay can begin there.
        ask_again_ = ask_again_ || !failing_;
    }
    if (!failing_) failing_ = !(drain() && writer_.sync());
    publish_trouble();
    if (failing_ || stopping_) return;
    if (ask_again_ || dropping_ || due_by_age()) {
        ask_again_ = false;
        options_.ask();
    }
}

bool JournalWorker::due_by_age() const {
    return std::chrono::steady_clock::now() - begun_ >= options_.segment_age;
}

// Everything before the mark is on the disk.
bool JournalWorker::reach(std::unique_ptr<JournalMark> mark) {
    if (mark->begins_segment) {
        begun_ = std::chrono::steady_clock::now();
        if (!writer_.begin(mark->number, std::move(mark->head))) return false;
    }
    mark->reached.set_value();
    return true;
}

// Writes all that is there; false when the disk failed.
bool JournalWorker::drain() {
    for (;;) {
        // In this order: a mark stands before the records that follow it.
        std::size_t available = ring_.read_available();
        JournalMark* mark = marks_.read_available() > 0 ? marks_.front() : nullptr;
        if (mark != nullptr)
            available = static_cast<std::size_t>(std::min<std::uint64_t>(available, mark->position - taken_));
        if (available == 0) {
            if (mark == nullptr || mark->position != taken_) return true;
            if (!writer_.sync()) return false;
            marks_.pop();
            if (!reach(std::unique_ptr<JournalMark>{mark})) return false;
            continue;
        }
        piece_.resize(std::min(available, piece_bytes));
        piece_.resize(ring_.pop(piece_.data(), piece_.size()));
        taken_ += piece_.size();
        if (!writer_.append(piece_)) return false;
        if (writer_.unsynced() >= options_.sync_bytes && !writer_.sync()) return false;
    }
}

}  // namespace dynaplan::observe
