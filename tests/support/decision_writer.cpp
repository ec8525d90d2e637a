// Publishes and acknowledges decisions in a file store for ever, and says so after each answer: a process for
// the tests to kill. Prints "stored ID" and "acknowledged ID"; "waiting: WHY" and ends when another process
// has the lock.
//
// usage: decision_writer FOLDER
#include <cstdio>

#include "connector/file_store.hpp"
#include "support/written_decisions.hpp"

namespace {

bool commit(dynaplan::connector::FileStore& store, const dynaplan::port::Transaction& t) {
    const auto answer = store.commit(t);
    if (answer && answer->result == dynaplan::port::CommitResult::ok) return true;
    std::fprintf(stderr, "%s\n", store.trouble().c_str());
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    // So small that the file is rewritten every few decisions, and kills fall into that as well.
    dynaplan::connector::FileStore store{{.folder = argv[1], .rewrite_above = 6000, .disk = nullptr}};
    const auto lock = store.try_lock();
    if (!lock) {
        std::fprintf(stderr, "%s\n", lock.error().message.c_str());
        return 1;
    }
    if (!lock->held) {
        std::printf("waiting: %s\n", lock->other.c_str());
        return 0;
    }
    for (;;) {
        const auto read = store.read();
        if (!read || !read->state) return 1;
        const auto& state = *read->state;
        const bool acknowledge =
            state.current && (!state.acknowledged || *state.acknowledged < *state.current);
        const dynaplan::DecisionId id = acknowledge ? *state.current : state.current.value_or(-1) + 1;
        const auto t = acknowledge ? dynaplan::support::acknowledgement(state, id)
                                   : dynaplan::support::publication(state, id);
        if (!commit(store, t)) return 1;
        std::printf("%s %lld\n", acknowledge ? "acknowledged" : "stored", static_cast<long long>(id));
        if (std::fflush(stdout) != 0) return 1;
    }
}
