// What was not used, by cause, with the first few places of each: nothing is lost silently.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dynaplan::replay {

struct RefusedPlace {
    std::string file;
    std::uint64_t line = 0;
    std::string message;  // what is wrong there, or the beginning of the line
};

class Refusals {
public:
    static constexpr std::size_t places_kept = 3;  // of each cause

    struct Cause {
        std::uint64_t count = 0;
        std::vector<RefusedPlace> places;
    };

    void add(std::string_view cause, std::string_view file, std::uint64_t line, std::string_view message);
    // For causes that have no place of their own.
    void add(std::string_view cause, std::uint64_t count);

    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] const std::map<std::string, Cause, std::less<>>& causes() const { return causes_; }

private:
    Cause& cause(std::string_view name);

    std::map<std::string, Cause, std::less<>> causes_;  // sorted, so that reports are stable
    std::uint64_t total_ = 0;
};

}  // namespace dynaplan::replay
