// An exclusive lock on a folder, held by one process at a time: flock on a file `lock` in it, which the
// kernel gives back however its holder ends. The holder's process number stands in the file, for people.
#pragma once

#include <optional>
#include <string>

#include "core/result.hpp"
#include "port/disk.hpp"

namespace dynaplan::connector {

class FolderLock {
public:
    struct Answer {
        bool held = false;          // by us
        std::optional<int> holder;  // else: the process that holds it, where it could be read
    };
    // Never waits. Fails where the lock file can be neither made nor opened.
    [[nodiscard]] Result<Answer> try_lock(const std::string& folder);
    void release();
    [[nodiscard]] bool held() const { return file_.is_open(); }
    // Held, and the lock file has not been deleted or replaced, which would let a second process in.
    [[nodiscard]] bool intact(const std::string& folder) const;

    FolderLock() = default;
    ~FolderLock() { release(); }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    port::FileDescriptor file_;
};

}  // namespace dynaplan::connector
