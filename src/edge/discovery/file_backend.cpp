#include "discovery/file_backend.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/inotify.h>
#include <unistd.h>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "discovery/file_view.hpp"

namespace dynaplan::discovery {

namespace {

using Clock = std::chrono::steady_clock;

// Writers come in bursts, and a burst is read once: a scan follows a change after the first, and the scan
// before it after the second.
constexpr std::chrono::milliseconds settle{20};
constexpr std::chrono::milliseconds scans_apart{100};
// Of one wake-up, then timers may run.
constexpr int reads_most = 64;

// What changes names or contents. Not IN_ATTRIB and not IN_CLOSE_WRITE, which owners cause by touching.
constexpr std::uint32_t changes_of_bucket = IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                            IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
// Above the buckets only folders that appear or go are of interest.
constexpr std::uint32_t changes_above = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR;

}  // namespace

class FileBackend::Watch : public std::enable_shared_from_this<Watch> {
public:
    Watch(boost::asio::io_context& io, FileBackendOptions options, Roster& roster)
        : options_{std::move(options)},
          view_{options_.root, options_.time_to_live, roster},
          timer_{io},
          changes_{io} {}

    void start() {
        const int descriptor = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (descriptor >= 0) changes_.assign(descriptor);  // else rescans have to do
        scan();
        if (changes_.is_open()) wait_for_changes();
    }
    // May be called from one of the callbacks.
    void close() {
        closed_ = true;
        timer_.cancel();
        changes_.close();
    }
    [[nodiscard]] const SourceState& state() const { return state_; }
    [[nodiscard]] const FileBackendCounts& counts() const { return counts_; }

private:
    void scan() {
        // Watched first: what changes between the two is read twice rather than missed.
        watch_folders();
        scanned_at_ = Clock::now();
        const auto result = view_.scan(scanned_at_, std::chrono::system_clock::now());
        ++counts_.scans;
        if (closed_) return;
        SourceState now = state_;
        now.stale = !result;
        now.reason = result ? std::string{} : "discovery: " + result.error().message;
        now.complete = now.complete || result;
        if (!result) ++counts_.failed_scans;
        if (!(now == state_)) {
            state_ = now;
            if (options_.on_state) options_.on_state(now);
        }
        if (closed_) return;
        due_.reset();
        wake_at(scanned_at_ + options_.rescan_every);
    }

    // Adding a watch again changes nothing; a folder that was made anew gets a new one.
    void watch_folders() {
        if (!changes_.is_open()) return;
        bucket_of_.clear();
        add_watch(view_.root(), changes_above);
        add_watch(view_.root() + "/v1", changes_above);
        for (const wire::Bucket bucket : FileView::buckets) {
            const int number = add_watch(view_.folder_of(bucket), changes_of_bucket);
            if (number >= 0) bucket_of_[number] = bucket;
        }
    }
    int add_watch(const std::string& folder, std::uint32_t changes) {
        return ::inotify_add_watch(changes_.native_handle(), folder.c_str(), changes);
    }

    void wait_for_changes() {
        changes_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                            [weak = weak_from_this()](const boost::system::error_code& error) {
                                const auto self = weak.lock();
                                if (!self || error || self->closed_) return;
                                self->take_changes();
                                self->wait_for_changes();
                            });
    }
    void take_changes() {
        ++counts_.wakes;
        alignas(inotify_event) std::array<char, 4096> bytes{};
        for (int i = 0; i < reads_most; ++i) {
            const ssize_t n = ::read(changes_.native_handle(), bytes.data(), bytes.size());
            if (n <= 0) break;
            take_changes({bytes.data(), static_cast<std::size_t>(n)});
        }
        wake_at(std::max(Clock::now() + settle, scanned_at_ + scans_apart));
    }
    void take_changes(std::string_view bytes) {
        inotify_event event{};
        while (bytes.size() >= sizeof event) {
            std::memcpy(&event, bytes.data(), sizeof event);
            bytes.remove_prefix(sizeof event);
            const std::string_view padded = bytes.substr(0, event.len);
            const std::string_view name = padded.substr(0, padded.find('\0'));
            bytes.remove_prefix(padded.size());
            if ((event.mask & IN_Q_OVERFLOW) != 0) view_.all_written();
            const auto bucket = bucket_of_.find(event.wd);
            if (bucket != bucket_of_.end() && !name.empty()) view_.written(bucket->second, name);
        }
    }

    void wake_at(Clock::time_point at) {
        if (due_ && *due_ <= at) return;
        due_ = at;
        timer_.expires_at(at);
        timer_.async_wait([weak = weak_from_this(), at](const boost::system::error_code& error) {
            const auto self = weak.lock();
            if (!self || error || self->closed_ || self->due_ != at) return;
            self->scan();
        });
    }

    FileBackendOptions options_;
    FileView view_;
    boost::asio::steady_timer timer_;
    boost::asio::posix::stream_descriptor changes_;
    std::map<int, wire::Bucket> bucket_of_;  // by watch
    std::optional<Clock::time_point> due_;
    Clock::time_point scanned_at_{};
    SourceState state_;
    FileBackendCounts counts_;
    bool closed_ = false;
};

FileBackend::FileBackend(boost::asio::io_context& io, FileBackendOptions options, Roster& roster)
    : watch_{std::make_shared<Watch>(io, std::move(options), roster)} {
    watch_->start();
}

FileBackend::~FileBackend() { watch_->close(); }

const SourceState& FileBackend::state() const { return watch_->state(); }
const FileBackendCounts& FileBackend::counts() const { return watch_->counts(); }

}  // namespace dynaplan::discovery
