#include "wire/worker_cards.hpp"

#include <algorithm>

namespace dynaplan::wire {

const ModelCard& WorkerCards::reported(const Cards& cards) {
    const auto base =
        std::find_if(cards.begin(), cards.end(), [](const auto& entry) { return entry.second.is_base; });
    return (base != cards.end() ? base : cards.begin())->second.card;
}

WorkerChanges WorkerCards::put(std::string_view key, WorkerCard card) {
    WorkerChanges changes;
    if (const auto known = worker_by_key_.find(key);
        known != worker_by_key_.end() && known->second != card.worker_id) {
        changes = remove(key);
    }
    const std::uint64_t id = card.worker_id;
    worker_by_key_.insert_or_assign(std::string{key}, id);
    const auto worker = cards_.find(id);
    if (worker == cards_.end()) {
        cards_[id].emplace(key, std::move(card));
        changes.push_back({WorkerChange::Kind::added, id});
        return changes;
    }
    const ModelCard before = reported(worker->second);
    worker->second.insert_or_assign(std::string{key}, std::move(card));
    if (!(reported(worker->second) == before)) changes.push_back({WorkerChange::Kind::changed, id});
    return changes;
}

WorkerChanges WorkerCards::remove(std::string_view key) {
    const auto known = worker_by_key_.find(key);
    if (known == worker_by_key_.end()) return {};
    const std::uint64_t id = known->second;
    worker_by_key_.erase(known);
    Cards& cards = cards_.at(id);
    const ModelCard before = reported(cards);
    cards.erase(cards.find(key));
    if (cards.empty()) {
        cards_.erase(id);
        return {{WorkerChange::Kind::removed, id}};
    }
    if (reported(cards) == before) return {};
    return {{WorkerChange::Kind::changed, id}};
}

WorkerChanges WorkerCards::replace_all(const std::vector<std::pair<std::string, WorkerCard>>& cards) {
    WorkerCards next;
    for (const auto& [key, card] : cards) next.put(key, card);
    WorkerChanges changes;
    for (const auto& [id, old] : cards_) {
        if (!next.cards_.contains(id)) changes.push_back({WorkerChange::Kind::removed, id});
    }
    for (const auto& [id, now] : next.cards_) {
        const auto old = cards_.find(id);
        if (old == cards_.end()) {
            changes.push_back({WorkerChange::Kind::added, id});
        } else if (!(reported(old->second) == reported(now))) {
            changes.push_back({WorkerChange::Kind::changed, id});
        }
    }
    *this = std::move(next);
    return changes;
}

const ModelCard* WorkerCards::card_of(std::uint64_t worker_id) const {
    const auto worker = cards_.find(worker_id);
    return worker == cards_.end() ? nullptr : &reported(worker->second);
}

std::vector<std::uint64_t> WorkerCards::workers() const {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, cards] : cards_) ids.push_back(id);
    return ids;
}

}  // namespace dynaplan::wire
