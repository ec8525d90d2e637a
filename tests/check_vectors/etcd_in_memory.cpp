#include "check_vectors/etcd_in_memory.hpp"

#include <algorithm>
#include <compare>
#include <utility>
#include <variant>

namespace dynaplan::check_vectors {

namespace {

using net::EtcdField;
using net::EtcdPair;
using net::EtcdRelation;

bool lies_in(const std::string& key, const net::EtcdSpan& span) {
    if (span.range_end.empty()) return key == span.key;
    return key >= span.key && key < span.range_end;
}

std::int64_t number_of(const EtcdPair& pair, EtcdField field) {
    switch (field) {
        case EtcdField::version: return pair.version;
        case EtcdField::create_revision: return pair.create_revision;
        case EtcdField::mod_revision: return pair.mod_revision;
        case EtcdField::lease: return pair.lease;
        case EtcdField::value: break;
    }
    return 0;
}

bool stands_so(std::strong_ordering order, EtcdRelation relation) {
    switch (relation) {
        case EtcdRelation::equal: return order == std::strong_ordering::equal;
        case EtcdRelation::not_equal: return order != std::strong_ordering::equal;
        case EtcdRelation::greater: return order == std::strong_ordering::greater;
        case EtcdRelation::less: return order == std::strong_ordering::less;
    }
    return false;
}

}  // namespace

net::EtcdListing EtcdInMemory::list(const net::EtcdSpan& span) const {
    net::EtcdListing out;
    out.revision = revision_;
    for (const auto& [key, pair] : pairs_) {
        if (lies_in(key, span)) out.pairs.push_back(pair);
    }
    return out;
}

bool EtcdInMemory::holds(const net::EtcdCompare& compare) const {
    const auto found = pairs_.find(compare.key);
    if (compare.field == EtcdField::value) {
        return found != pairs_.end() && stands_so(found->second.value <=> compare.text, compare.relation);
    }
    const EtcdPair pair = found == pairs_.end() ? EtcdPair{} : found->second;
    return stands_so(number_of(pair, compare.field) <=> compare.number, compare.relation);
}

bool EtcdInMemory::is_refused(const std::vector<net::EtcdOperation>& branch) {
    bool refused = false;
    std::vector<std::string> keys;
    for (const net::EtcdOperation& operation : branch) {
        const auto* const put = std::get_if<net::EtcdPut>(&operation);
        if (put == nullptr) continue;
        // etcd takes a key once only.
        if (std::find(keys.begin(), keys.end(), put->key) != keys.end()) return true;
        keys.push_back(put->key);
        if (!put->key.starts_with(counted_)) continue;
        for (std::int64_t& left : refused_) --left;
        refused = std::erase_if(refused_, [](std::int64_t left) { return left <= 0; }) > 0 || refused;
    }
    return refused;
}

std::optional<net::EtcdTransactionAnswer> EtcdInMemory::transact(const net::EtcdTransaction& wanted) {
    net::EtcdTransactionAnswer answer;
    answer.succeeded = std::all_of(wanted.compare.begin(), wanted.compare.end(),
                                   [this](const net::EtcdCompare& compare) { return holds(compare); });
    const auto& branch = answer.succeeded ? wanted.success : wanted.failure;
    if (is_refused(branch)) return std::nullopt;
    const std::int64_t next = revision_ + 1;
    for (const net::EtcdOperation& operation : branch) {
        if (const auto* const put = std::get_if<net::EtcdPut>(&operation)) {
            put_at(next, *put);
        } else if (const auto* const erased = std::get_if<net::EtcdDelete>(&operation)) {
            for (const EtcdPair& pair : list(erased->span).pairs) erase_at(next, pair.key);
        } else {
            answer.listings.push_back(list(std::get<net::EtcdRead>(operation).span));
        }
    }
    answer.revision = revision_;
    return answer;
}

void EtcdInMemory::put(const net::EtcdPut& one) { put_at(revision_ + 1, one); }

void EtcdInMemory::end_lease(std::int64_t lease) {
    std::vector<std::string> keys;
    for (const auto& [key, pair] : pairs_) {
        if (pair.lease == lease) keys.push_back(key);
    }
    const std::int64_t next = revision_ + 1;
    for (const std::string& key : keys) erase_at(next, key);
}

void EtcdInMemory::put_at(std::int64_t revision, const net::EtcdPut& one) {
    EtcdPair& pair = pairs_[one.key];
    if (pair.version == 0) pair.create_revision = revision;
    pair.key = one.key;
    pair.value = one.value;
    pair.mod_revision = revision;
    pair.lease = one.lease;
    ++pair.version;
    change_at(revision).events.push_back({false, pair});
}

void EtcdInMemory::erase_at(std::int64_t revision, const std::string& key) {
    pairs_.erase(key);
    EtcdPair gone;
    gone.key = key;
    gone.mod_revision = revision;
    change_at(revision).events.push_back({true, std::move(gone)});
}

EtcdInMemory::Change& EtcdInMemory::change_at(std::int64_t revision) {
    if (revision_ != revision) changes_.push_back({revision, {}});
    revision_ = revision;
    return changes_.back();
}

std::vector<EtcdInMemory::Change> EtcdInMemory::take_changes() { return std::exchange(changes_, {}); }

}  // namespace dynaplan::check_vectors
