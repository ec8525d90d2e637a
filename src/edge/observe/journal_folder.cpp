#include "observe/journal_folder.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>

#include "observe/journal_worker.hpp"
#include "port/posix_disk.hpp"

namespace dynaplan::observe {

namespace {

using Clock = std::chrono::steady_clock;

// A disk in trouble may recover by itself; a folder that is refused will not.
bool may_recover(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO; }

std::int64_t unix_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// On the folder itself, since each file in it is a segment. Two writers would take each other's names.
Result<port::FileDescriptor> lock_folder(const std::string& folder) {
    port::FileDescriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!opened.is_open()) return failure(folder + ": " + port::reason_of(errno));
    if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
        return failure(
            folder + ": " +
            (errno == EWOULDBLOCK ? "another process writes its journal there" : port::reason_of(errno)));
    }
    return opened;
}

}  // namespace

JournalFolder::JournalFolder(JournalFolderOptions options)
    : options_{std::move(options)}, self_{std::make_shared<JournalFolder*>(this)} {
    ask_ = [asked = asked_, post = options_.post, weak = std::weak_ptr{self_}] {
        if (asked->exchange(true)) return;
        post([weak] {
            if (const auto self = weak.lock()) (*self)->begin_segment();
        });
    };
}

Result<std::unique_ptr<JournalFolder>> JournalFolder::open(JournalFolderOptions options) {
    if (!options.disk) options.disk = port::posix_disk();
    const std::string folder = options.folder;
    if (const int error = port::make_folder(folder)) return failure(folder + ": " + port::reason_of(error));
    auto lock = lock_folder(folder);
    if (!lock) return tl::unexpected{lock.error()};
    auto content = list_segments(folder);
    if (!content) return tl::unexpected{content.error()};
    for (const std::string& path : content->unfinished) static_cast<void>(options.disk->remove(path));

    std::unique_ptr<JournalFolder> journal{new JournalFolder{std::move(options)}};
    const JournalFolderOptions& o = journal->options_;
    if (!content->segments.empty()) journal->number_ = content->segments.back().number + 2;
    SegmentWriter writer{o.disk, folder, o.kept_bytes, std::move(content->segments)};
    if (!writer.begin(journal->number_, journal->head_of_segment()) && !may_recover(writer.trouble().error))
        return failure(folder + ": " + text_of(writer.trouble()));
    JournalWorkerOptions w{o.buffer_bytes, o.sync_bytes, o.sync_every, o.segment_age, journal->ask_};
    journal->worker_ = std::make_shared<JournalWorker>(std::move(w), std::move(writer), std::move(*lock));
    try {
        journal->thread_ = std::thread{[worker = journal->worker_] { worker->run(); }};
    } catch (const std::system_error& e) {
        return failure(folder + ": no thread for the journal: " + e.what());
    }
    return journal;
}

JournalFolder::~JournalFolder() { flush_and_close(std::chrono::seconds{2}); }

std::string JournalFolder::head_of_segment() {
    SegmentStart start = options_.checkpoint();
    std::string head;
    writer_.append_header(head, {number_, unix_ms(), options_.program_version, std::move(start.config_json)});
    // Before the checkpoint: from there on effects can be compared again.
    if (dropping_) writer_.append_note(head, start.at, wire::JournalNote::dropped, events_dropped_);
    writer_.append_checkpoint(head, start.at, start.planner_state, start.coordinator_state);
    return head;
}

void JournalFolder::begin_segment() {
    *asked_ = false;
    // Nothing is gained by a segment whose first records would be dropped: the worker asks again.
    if (!thread_.joinable() || (dropping_ && !worker_->half_empty())) return;
    ++number_;
    auto mark = std::make_unique<JournalMark>();
    mark->begins_segment = true;
    mark->number = number_;
    mark->head = head_of_segment();
    if (!worker_->offer(std::move(mark))) {
        // The writer has forgotten the engines that the current segment knows, so nothing more can go there.
        --number_;
        dropping_ = true;
        worker_->set_dropping(true);
        return;
    }
    segment_bytes_ = 0;
    events_dropped_ = 0;
    dropping_ = false;
    worker_->set_dropping(false);
}

void JournalFolder::drop(bool is_event) {
    ++dropped_;
    if (is_event) ++events_dropped_;
}

void JournalFolder::offer_scratch(bool is_event) {
    if (!worker_->offer(scratch_)) {
        dropping_ = true;
        worker_->set_dropping(true);
        worker_->wake();
        return drop(is_event);
    }
    segment_bytes_ += scratch_.size();
    if (segment_bytes_ >= options_.segment_bytes) ask_();
}

void JournalFolder::append_event(const Event& event) {
    if (dropping_ || !thread_.joinable()) return drop(true);
    scratch_.clear();
    writer_.append_event(scratch_, event);
    offer_scratch(true);
}

void JournalFolder::append_effect(const Effect& effect) {
    if (dropping_ || !thread_.joinable()) return drop(false);
    scratch_.clear();
    writer_.append_effect(scratch_, effect);
    offer_scratch(false);
}

port::JournalState JournalFolder::state() const {
    const DiskTrouble trouble = worker_->trouble();
    if (!trouble && !dropping_) return {};
    std::string reason = options_.folder + ": ";
    reason += trouble ? text_of(trouble) : "the disk does not keep up, the buffer was full";
    if (dropped_ > 0) reason += "; " + std::to_string(dropped_) + " records dropped so far";
    return {true, std::move(reason)};
}

bool JournalFolder::flush(std::chrono::milliseconds limit) {
    if (!thread_.joinable()) return false;
    auto mark = std::make_unique<JournalMark>();
    auto reached = mark->reached.get_future();
    return worker_->offer(std::move(mark)) && reached.wait_for(limit) == std::future_status::ready;
}

bool JournalFolder::flush_and_close(std::chrono::milliseconds limit) {
    if (!thread_.joinable()) return true;
    const auto deadline = Clock::now() + limit;
    // The last fifth is for the thread to notice that it is to end.
    const bool flushed = flush(limit * 4 / 5);
    worker_->stop();
    if (worker_->ended().wait_until(deadline) == std::future_status::ready) {
        thread_.join();
    } else {
        thread_.detach();
    }
    return flushed;
}

}  // namespace dynaplan::observe
