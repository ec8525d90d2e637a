// Cuts a stream of bytes into lines, whatever pieces it comes in, with a bound on a line's length.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dynaplan::net {

class LineSplitter {
public:
    explicit LineSplitter(std::size_t line_max) : line_max_{line_max} {}

    // Calls `on_line(std::string_view)` for each line that ends in `piece`, without "\n" or "\r\n", until it
    // returns false. Returns false when a line is longer than the bound.
    template <class OnLine>
    bool put(std::string_view piece, OnLine on_line) {
        while (!piece.empty()) {
            const std::size_t end = piece.find('\n');
            const std::string_view part = piece.substr(0, end);
            if (begun_.size() + part.size() > line_max_) return false;
            begun_.append(part);
            if (end == std::string_view::npos) return true;
            piece.remove_prefix(end + 1);
            if (begun_.ends_with('\r')) begun_.pop_back();
            const std::string line = std::move(begun_);
            begun_.clear();
            if (!on_line(std::string_view{line})) return true;
        }
        return true;
    }

    // What came after the last line end.
    [[nodiscard]] const std::string& rest() const { return begun_; }

private:
    std::size_t line_max_;
    std::string begun_;
};

}  // namespace dynaplan::net
