#include "bus/link_table.hpp"

#include <utility>

namespace dynaplan::bus {

void LinkTable::add(const std::string& key, std::string address, std::string problem) {
    Link& link = links_[key];
    if (link.up) {
        ++counts_.links_down;
        ++lost_;
    }
    link.address = std::move(address);
    link.problem = std::move(problem);
    link.up = false;
    down_.insert(key);
    settle();
}

void LinkTable::remove(std::string_view key) {
    const auto place = links_.find(key);
    if (place == links_.end()) return;
    if (place->second.up) ++counts_.links_down;
    if (!place->second.up && place->second.was_up) --lost_;
    if (const auto down = down_.find(key); down != down_.end()) down_.erase(down);
    links_.erase(place);
    settle();
}

void LinkTable::set(std::string_view key, bool up) {
    const auto place = links_.find(key);
    if (place == links_.end() || place->second.up == up) return;
    Link& link = place->second;
    link.up = up;
    if (up) {
        ++counts_.links_up;
        if (link.was_up) --lost_;
        link.was_up = true;
        if (const auto down = down_.find(key); down != down_.end()) down_.erase(down);
    } else {
        ++counts_.links_down;
        ++lost_;
        down_.emplace(key);
    }
    settle();
}

// The event comes last: whoever takes it may change the table.
void LinkTable::settle() {
    const bool any_up = down_.size() < links_.size();
    counts_.connected = any_up;
    counts_.trouble = trouble();
    const bool outage = !any_up && lost_ > 0;
    const bool wanted = told_ever_ ? !outage : any_up;
    if (wanted == told_) return;
    told_ever_ = true;
    told_ = wanted;
    Event event{TimePoint{}, BusChanged{wanted}};
    sink_.take(event);
}

std::string LinkTable::trouble() const {
    if (links_.empty()) return "no publisher is known yet";
    if (down_.empty()) return {};
    constexpr std::size_t named_most = 3;
    std::string text = std::to_string(down_.size()) + " of " + std::to_string(links_.size()) +
                       (links_.size() == 1 ? " publisher does" : " publishers do") + " not answer: ";
    std::size_t named = 0;
    for (const std::string& key : down_) {
        if (named == named_most) return text + ", ...";
        const Link& link = links_.find(key)->second;
        text.append(named++ == 0 ? "" : ", ").append(link.address);
        if (!link.problem.empty()) text.append(" (").append(link.problem).append(")");
    }
    return text;
}

}  // namespace dynaplan::bus
