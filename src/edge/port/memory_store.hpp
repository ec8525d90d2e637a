// The store in memory, for those who compare another store with it.
#pragma once

#include "decision/memory_store.hpp"

namespace dynaplan::port {

using decision::MemoryStore;

}  // namespace dynaplan::port
