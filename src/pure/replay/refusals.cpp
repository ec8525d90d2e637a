#include "replay/refusals.hpp"

namespace dynaplan::replay {

namespace {

// Fit for one line on a terminal: whatever the bytes were, none of them moves the cursor.
std::string shown(std::string_view text) {
    constexpr std::size_t shown_max = 120;
    std::string out{text.substr(0, shown_max)};
    for (char& c : out) {
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    }
    if (text.size() > shown_max) out += "...";
    return out;
}

}  // namespace

Refusals::Cause& Refusals::cause(std::string_view name) {
    const auto found = causes_.find(name);
    return found != causes_.end() ? found->second : causes_[std::string{name}];
}

void Refusals::add(std::string_view name, std::string_view file, std::uint64_t line,
                   std::string_view message) {
    Cause& c = cause(name);
    ++c.count;
    ++total_;
    if (c.places.size() < places_kept) c.places.push_back({std::string{file}, line, shown(message)});
}

void Refusals::add(std::string_view name, std::uint64_t count) {
    if (count == 0) return;
    cause(name).count += count;
    total_ += count;
}

}  // namespace dynaplan::replay
