// DYNAPLAN_ASSERT states an invariant of our own; it stays on in release builds and ends the process with its
// place. Bad input never gets here: it is refused in wire/ or in the configuration.
#pragma once

#include <cstdio>
#include <cstdlib>

#define DYNAPLAN_ASSERT(condition)                                                                 \
    do {                                                                                           \
        if (!(condition)) [[unlikely]] {                                                           \
            std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)
