// Which of a bus's connections are up, and what that means for the bus as a whole.
//
// Connected: at least one is up, so reports can arrive. A single publisher that is gone is a matter of
// `reconcile`.
// Outage (BusChanged{false}): publishers that were there are not, and no other is. A publisher that has not
// answered yet is no outage, nor is a bus that knows no publisher; neither is connected. An outage ends when
// one is up, or when all lost ones are taken off the table: then discovery says that they are gone for good.
//
// The loop's thread.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"

namespace dynaplan::bus {

class LinkTable {
public:
    LinkTable(port::EventSink& sink, port::BusCounts& counts) : sink_{sink}, counts_{counts} { settle(); }

    // A link begins down. Under a known key it replaces the old one, of which is kept that it was up once.
    // `problem`: why it will never be up.
    void add(const std::string& key, std::string address, std::string problem = {});
    void remove(std::string_view key);
    void set(std::string_view key, bool up);

private:
    struct Link {
        std::string address;
        std::string problem;
        bool up = false;
        bool was_up = false;
    };

    void settle();
    [[nodiscard]] std::string trouble() const;

    port::EventSink& sink_;
    port::BusCounts& counts_;
    std::map<std::string, Link, std::less<>> links_;
    std::set<std::string, std::less<>> down_;  // keys
    std::size_t lost_ = 0;                     // down, and were up
    bool told_ever_ = false;
    bool told_ = false;
};

}  // namespace dynaplan::bus
