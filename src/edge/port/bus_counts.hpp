// What a bus has done with what came over it. Written by the bus, read by whoever shows it; the loop's
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace dynaplan::port {

struct BusCounts {
    std::uint64_t received = 0;                                 // messages, of any kind
    std::uint64_t decoded = 0;                                  // handed to the core
    std::uint64_t gaps = 0;                                     // reports that never came, by counter_id
    std::map<std::string, std::uint64_t, std::less<>> refused;  // by cause

    void refuse(std::string_view cause) {
        const auto place = refused.find(cause);
        if (place != refused.end()) {
            ++place->second;
        } else {
            refused.emplace(cause, 1);
        }
    }
};

}  // namespace dynaplan::port
