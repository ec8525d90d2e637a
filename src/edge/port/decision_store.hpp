// The port behind which decisions are kept, for the adapters that implement it. Its words are src/pure's own
// (decision/store.hpp says what each promises), since the coordinator that calls the port is pure.
#pragma once

#include "decision/record.hpp"
#include "decision/store.hpp"

namespace dynaplan::port {

using decision::apply;
using decision::CommitAnswer;
using decision::CommitResult;
using decision::DecisionRecord;
using decision::DecisionStore;
using decision::ReadAnswer;
using decision::StoredState;
using decision::Transaction;

}  // namespace dynaplan::port
