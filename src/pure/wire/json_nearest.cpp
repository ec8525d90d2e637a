#include "wire/json_nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace dynaplan::wire {

namespace {

constexpr std::size_t looked_at_max = 64;

// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
    std::array<std::size_t, looked_at_max + 1> row{};
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
            diagonal = above;
        }
    }
    return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wrong, std::span<const std::string_view> names) {
    wrong = wrong.substr(0, looked_at_max);
    std::string_view best;
    std::size_t best_distance = looked_at_max + 1;
    for (const std::string_view name : names) {
        const std::size_t d = distance(name, wrong);
        if (d < best_distance) {
            best_distance = d;
            best = name;
        }
    }
    return best;
}

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text.substr(0, looked_at_max)) {
        const auto byte = static_cast<unsigned char>(c);
        out += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
    out += text.size() > looked_at_max ? "...'" : "'";
    return out;
}

std::string unknown_name(std::string_view what, std::string_view wrong,
                         std::span<const std::string_view> names) {
    std::string out = "unknown ";
    out += what;
    out += ' ';
    out += in_quotes(wrong);
    out += ", did you mean '";
    out += nearest_name(wrong, names);
    out += "'?";
    return out;
}

}  // namespace dynaplan::wire
