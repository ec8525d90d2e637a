// What discovery has done with what it saw. Written by the roster and its backend, read by whoever shows it;
// the loop's thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dynaplan::discovery {

struct Counts {
    std::uint64_t read = 0;           // records that were looked at, repeated ones too
    std::uint64_t removed = 0;        // records that went
    std::uint64_t listings = 0;       // whole listings that were reconciled
    std::uint64_t id_mismatches = 0;  // records used under their key's id, though the value names another
    std::uint64_t implausible = 0;    // numbers of cards that were taken as unknown
    // Records that were not used, by cause: bad_key, bad_value, too_large, not_scaled, too_many_ranks,
    // rank_out_of_range, too_many_engines, too_many_cards, too_many_channels, bad_address.
    std::map<std::string, std::uint64_t, std::less<>> refused;

    // How often it has happened now.
    std::uint64_t refuse(std::string_view cause) {
        const auto place = refused.find(cause);
        if (place != refused.end()) return ++place->second;
        refused.emplace(cause, 1);
        return 1;
    }
};

}  // namespace dynaplan::discovery
