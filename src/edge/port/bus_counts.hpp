// What a bus has done with what came over it, and how it is. Written by the bus, read by whoever shows it;
// the loop's thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dynaplan::port {

struct BusCounts {
    using ByCause = std::map<std::string, std::uint64_t, std::less<>>;

    std::uint64_t received = 0;           // messages, of any kind
    std::uint64_t decoded = 0;            // handed to the core
    std::uint64_t gaps = 0;               // reports that never came, by counter_id
    std::uint64_t identity_mismatch = 0;  // taken although frames and envelope disagree on who sent them
    std::uint64_t links_up = 0;           // connections that came about, also again
    std::uint64_t links_down = 0;         // connections that were lost
    ByCause refused;                      // messages that were not used
    ByCause errors;                       // of the connections themselves: one for each attempt that failed

    // What `readyz` asks: can a report arrive now? Not the same as an outage, which is a BusChanged event:
    // where no publisher is known yet, nothing is connected, and nothing has failed either.
    bool connected = false;
    // What is wrong with the connections, one line; empty when nothing is. Also told while others work.
    std::string trouble = "not connected yet";

    // From publication to arrival by the two machines' wall clocks, where the message says when it was
    // published.
    static constexpr std::array<double, 8> lag_bounds_s{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0};
    std::array<std::uint64_t, lag_bounds_s.size() + 1> lag_counts{};
    double lag_sum_s = 0.0;

    // A clock that is behind the publisher's makes a lag of none.
    void lag(double seconds) {
        const double late = std::max(seconds, 0.0);
        const auto bound = std::lower_bound(lag_bounds_s.begin(), lag_bounds_s.end(), late);
        ++lag_counts[static_cast<std::size_t>(bound - lag_bounds_s.begin())];
        lag_sum_s += late;
    }

    void refuse(std::string_view cause, std::uint64_t n = 1) { add(refused, cause, n); }
    void error(std::string_view cause) { add(errors, cause, 1); }

private:
    static void add(ByCause& counts, std::string_view cause, std::uint64_t n) {
        if (const auto place = counts.find(cause); place != counts.end()) {
            place->second += n;
        } else {
            counts.emplace(cause, n);
        }
    }
};

}  // namespace dynaplan::port
