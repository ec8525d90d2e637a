// What a roster knows of a file store's folders: reads them as often as it is asked to and hands over what
// has changed (event-plane specification 7.6).
//
// One file is one key, its name the escaped key. Owners touch their files every third of the time to live;
// a file that nobody has touched for so long is gone, though it is still there. Nothing is ever deleted here:
// that is the owners' right, and the next reader's.
//
// Touching is not a change: a file is read again when it is new, another file under its name, of another
// size, or written to, as far as whoever watches the folder says so; and, since nobody watches folders of
// other machines, at most every reread_after when its time has changed. The age of a file is judged by this
// machine's clock only when it is seen for the first time; later a time that moves is a sign of life, however
// far off the owner's clock.
//
// A folder that cannot be read changes nothing: its records stay. A missing bucket is an empty one, a missing
// root is not: a file system that is not mounted looks like that. No clock, no loop; one thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "discovery/roster.hpp"
#include "wire/discovery_key.hpp"

namespace dynaplan::discovery {

class FileView {
public:
    using Steady = std::chrono::steady_clock::time_point;
    using Wall = std::chrono::system_clock::time_point;

    static constexpr std::array<wire::Bucket, 2> buckets{wire::Bucket::model_cards,
                                                         wire::Bucket::event_channels};
    static constexpr std::size_t files_most = 65'536;  // of one bucket
    static constexpr std::chrono::seconds reread_after{30};

    FileView(std::string root, std::chrono::milliseconds time_to_live, Roster& roster)
        : root_{std::move(root)}, time_to_live_{time_to_live}, roster_{roster} {}

    // Reads the folders. An error names the first place that could not be read and why; what could be read
    // has been taken all the same.
    Result<void> scan(Steady now, Wall wall);
    // The file was written to, or all of the bucket's may have been: read at the next scan.
    void written(wire::Bucket, std::string_view file_name);
    void all_written() { all_written_ = true; }

    [[nodiscard]] std::string folder_of(wire::Bucket) const;
    [[nodiscard]] const std::string& root() const { return root_; }

private:
    struct Entry {
        std::string key;
        std::uint64_t inode = 0;
        std::uint64_t size = 0;
        std::int64_t touched_ns = 0;  // as the file system says
        std::uint64_t hash = 0;       // of the content
        bool alive = false;           // the roster has been told of it
        Steady alive_until{};
        Steady read_at{};
        std::uint64_t round = 0;  // of the last scan that saw it
    };
    using Entries = std::map<std::string, Entry, std::less<>>;  // by file name
    struct Folder;

    Result<void> scan_bucket(std::size_t bucket, Steady now, Wall wall);
    Result<void> visit(std::size_t bucket, const Folder&, const std::string& name, Steady now, Wall wall);
    Result<void> read(const Folder&, const std::string& name, Entry&, Steady now);

    std::string root_;
    std::chrono::milliseconds time_to_live_;
    Roster& roster_;
    std::array<Entries, buckets.size()> entries_;
    std::array<std::set<std::string, std::less<>>, buckets.size()> written_;
    bool all_written_ = false;
    Steady scanned_at_{};
    std::uint64_t round_ = 0;
};

}  // namespace dynaplan::discovery
