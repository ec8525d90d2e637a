// The stores that need no server.
#include <utility>

#include "connector/file_store.hpp"
#include "port/memory_store.hpp"
#include "store_host.hpp"
#include "support/temp_folder.hpp"

namespace dynaplan::connector {

namespace {

class MemoryHost final : public StoreHost {
public:
    port::DecisionStore& store() override { return store_; }

private:
    port::MemoryStore store_;
};

class FileHost final : public StoreHost {
public:
    explicit FileHost(std::uint64_t rewrite_above) : rewrite_above_{rewrite_above} { reopen(); }
    port::DecisionStore& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        store_ = std::make_unique<FileStore>(FileStoreOptions{
            .folder = folder_ / "decisions", .rewrite_above = rewrite_above_, .disk = nullptr});
        const auto lock = store_->try_lock();
        REQUIRE(lock);
        REQUIRE(lock->held);
    }

private:
    support::TempFolder folder_{support::memory_folder()};
    std::uint64_t rewrite_above_;
    std::unique_ptr<FileStore> store_;
};

}  // namespace

std::vector<StoreRow> store_rows() {
    return {
        {"memory", false, [] { return std::make_unique<MemoryHost>(); }},
        {"file", true, [] { return std::make_unique<FileHost>(1U << 20U); }},
        // Rewritten whenever it has doubled, so that the same cases also pass through that.
        {"file, often rewritten", true, [] { return std::make_unique<FileHost>(0); }},
    };
}

}  // namespace dynaplan::connector
