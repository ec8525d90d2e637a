// How the conformance suite reaches a store: one row a kind of store. A store that answers later overrides
// read() and commit() and waits there for its answer, with a bound of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "port/decision_store.hpp"

namespace dynaplan::connector {

class StoreHost {
public:
    StoreHost() = default;
    virtual ~StoreHost() = default;
    StoreHost(const StoreHost&) = delete;
    StoreHost& operator=(const StoreHost&) = delete;

    [[nodiscard]] virtual port::DecisionStore& store() = 0;
    // The store as a new process finds it. Only asked of durable ones.
    virtual void reopen() {}

    virtual port::ReadAnswer read() {
        const auto answer = store().read();
        REQUIRE(answer);
        return *answer;
    }
    virtual port::CommitAnswer commit(const port::Transaction& t) {
        const auto answer = store().commit(t);
        REQUIRE(answer);
        return *answer;
    }
};

struct StoreRow {
    std::string name;
    bool durable = false;
    std::function<std::unique_ptr<StoreHost>()> make;  // an empty store
};

// The stores that this test program runs the suite against.
[[nodiscard]] std::vector<StoreRow> store_rows();

}  // namespace dynaplan::connector
