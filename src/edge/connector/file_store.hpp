// Decisions kept in a folder: the store of a planner that stands alone. The folder holds `decisions`, a text
// file (proto/decisions-file.md), and `lock`.
//
// Promises. A commit that was answered ok is on the disk: it is appended as one checksummed line, followed by
// fdatasync. The file is rewritten as one state when it has outgrown `rewrite_above` and twice that state;
// the new one takes the old one's name in one step. After a kill at any point the file reads as some prefix
// of the transactions that holds every one that was answered ok.
//
// One process writes: the one that holds the lock. Others may read, and ask for the lock again. A holder
// whose lock file was deleted notices before its next commit, and holds nothing any more.
//
// Failures. A disk that is full or failing gives `failed`, where the line could be taken back or was never
// whole, else `unknown`; the next read or commit first takes back what the failed one left, so the store
// works again as soon as the disk does. trouble() says why in one line.
//
// Answers at once: each call may take as long as the disk does. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connector/folder_lock.hpp"
#include "core/result.hpp"
#include "port/decision_store.hpp"
#include "port/disk.hpp"

namespace dynaplan::connector {

struct FileStoreOptions {
    std::string folder;
    std::uint64_t rewrite_above = 1U << 20U;  // bytes; a restart reads that many in some milliseconds
    std::shared_ptr<port::Disk> disk;         // empty: this machine's
};

class FileStore final : public port::DecisionStore {
public:
    struct LockAnswer {
        bool held = false;
        std::string other;  // "held by pid 4711" when another process has it
    };

    explicit FileStore(FileStoreOptions options);

    // Makes the folder where it is missing, takes the lock and reads the file; a torn tail is cut off. To be
    // called before the first commit, and by a stand-by as often as it likes; it never waits. Fails, and
    // holds nothing, where the folder or the file cannot be used: the message names the file and what is
    // wrong.
    [[nodiscard]] Result<LockAnswer> try_lock();
    // Lets the next process write.
    void release();
    [[nodiscard]] bool held() const { return lock_.held(); }
    // For its holder, now and then: whether folder and lock are still as they were; after trouble also
    // whether the disk works again, by writing the file anew. So trouble that is over does not stand until
    // the next commit. False, with trouble() saying why, else; the lock may be lost then.
    bool check();

    // Without the lock: what the file says now. Absent when it cannot be read, or when a lost commit could
    // not be taken back.
    [[nodiscard]] std::optional<port::ReadAnswer> read() override;
    // Without the lock: failed.
    [[nodiscard]] std::optional<port::CommitAnswer> commit(const port::Transaction&) override;

    // Why the last call failed, or why the file could not be rewritten; empty when all is well.
    [[nodiscard]] const std::string& trouble() const { return trouble_; }
    // What is to be logged since the last call, one line each: a torn tail, say.
    [[nodiscard]] std::vector<std::string> take_remarks();
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    bool settle();
    bool fail(const std::string& path, int error);
    bool take_back();
    bool rewrite();
    bool open_file();
    [[nodiscard]] bool vanished() const;

    FileStoreOptions options_;
    std::string path_;
    FolderLock lock_;
    port::FileDescriptor file_;
    port::StoredState state_;
    std::uint64_t sound_size_ = 0;  // of the file: up to here it is known and on the disk
    std::uint64_t rewrite_at_ = 0;  // the size at which it is rewritten
    bool tail_doubtful_ = false;    // something may stand behind sound_size_
    bool folder_doubtful_ = false;  // the file's new name may not be on the disk
    std::string trouble_;
    std::vector<std::string> remarks_;
};

}  // namespace dynaplan::connector
