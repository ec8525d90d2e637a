// Workers out of Dynamo's file store: keeps a roster up to date with the store's folders (FileView says how
// they are read). Folders are watched, so a change is seen within a tenth of a second; and they are read
// again every rescan_every, since folders may appear later, owners may stop touching their files, and changes
// by other machines wake nobody.
//
// A store that cannot be read is stale, and says why; the last known workers stay. It never writes. Reading
// is done in the loop and takes as long as the disk does. The loop's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "discovery/roster.hpp"
#include "discovery/source_state.hpp"

namespace dynaplan::discovery {

struct FileBackendOptions {
    std::string root;                                // DYN_FILE_KV, see file_store_root
    std::chrono::milliseconds time_to_live{10'000};  // the store's own (specification 7.6)
    std::chrono::milliseconds rescan_every{2'000};
    OnSourceState on_state;
};

struct FileBackendCounts {
    std::uint64_t scans = 0;
    std::uint64_t failed_scans = 0;
    std::uint64_t wakes = 0;  // by a watched folder
};

class FileBackend {
public:
    // Reads the store once, then goes on by itself. A store that is not there yet is waited for.
    FileBackend(boost::asio::io_context&, FileBackendOptions, Roster&);
    ~FileBackend();
    FileBackend(const FileBackend&) = delete;
    FileBackend& operator=(const FileBackend&) = delete;

    [[nodiscard]] const SourceState& state() const;
    [[nodiscard]] const FileBackendCounts& counts() const;

private:
    class Watch;
    std::shared_ptr<Watch> watch_;
};

}  // namespace dynaplan::discovery
