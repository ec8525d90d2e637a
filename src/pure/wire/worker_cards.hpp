// Which workers there are, by their model cards (event-plane specification 7.7).
//
// A worker appears with its first card and goes with its last one, whichever that is: a LoRA adapter that is
// unloaded does not end its worker. One card per worker is reported, that of the base model before those of
// adapters, then the lowest key. Cards are known by their whole key, suffix included; a removal names nothing
// else. Additions and removals may be repeated, as watches do.
//
// A pure state machine: the caller filters keys by prefix and hands over what it saw. It holds one entry for
// each card that is there. Not shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/model_card.hpp"

namespace dynaplan::wire {

struct WorkerCard {
    std::uint64_t worker_id = 0;
    bool is_base = true;  // not of an adapter
    ModelCard card;
    bool operator==(const WorkerCard&) const = default;
};

struct WorkerChange {
    enum class Kind : std::uint8_t {
        added,
        changed,  // the reported card is another one
        removed,  // drop all ranks of this worker
    };
    Kind kind = Kind::added;
    std::uint64_t worker_id = 0;
    bool operator==(const WorkerChange&) const = default;
};
using WorkerChanges = std::vector<WorkerChange>;

class WorkerCards {
public:
    // A card is there, or has changed. A key that now names another worker leaves the old one first.
    WorkerChanges put(std::string_view key, WorkerCard card);
    // Unknown keys change nothing.
    WorkerChanges remove(std::string_view key);
    // The whole listing, after a watch broke: what is not in it is gone. A worker whose cards are replaced in
    // one listing stays. Of a repeated key the last entry counts.
    WorkerChanges replace_all(const std::vector<std::pair<std::string, WorkerCard>>& cards);

    // The reported card; null for an unknown worker. Valid until the next change.
    [[nodiscard]] const ModelCard* card_of(std::uint64_t worker_id) const;
    [[nodiscard]] std::vector<std::uint64_t> workers() const;  // in order
    [[nodiscard]] std::size_t card_count() const { return worker_by_key_.size(); }

private:
    using Cards = std::map<std::string, WorkerCard, std::less<>>;  // by key

    static const ModelCard& reported(const Cards& cards);

    std::map<std::uint64_t, Cards> cards_;  // never an empty inner map
    std::map<std::string, std::uint64_t, std::less<>> worker_by_key_;
};

}  // namespace dynaplan::wire
