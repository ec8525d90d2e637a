#include "connector/etcd_picture.hpp"

#include <charconv>
#include <limits>
#include <utility>

#include "connector/decision_record_json.hpp"

namespace dynaplan::connector {

namespace {

using net::EtcdPair;
using port::DecisionRecord;
using port::StoredState;

constexpr std::size_t shown_max = 60;  // bytes of a bad value in a remark
constexpr std::size_t remarks_max = 64;

std::string shown(std::string_view value) {
    std::string out = "\"";
    for (const char c : value.substr(0, shown_max)) out += c >= ' ' && c < '\x7f' ? c : '?';
    return out + (value.size() > shown_max ? "\"..." : "\"");
}

}  // namespace

std::optional<std::int64_t> parse_etcd_number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
    std::int64_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    // One more must fit as well: the next id is one larger than any that was seen.
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() ||
        n == std::numeric_limits<std::int64_t>::max())
        return std::nullopt;
    return n;
}

std::string etcd_record_value(const DecisionRecord& record, std::size_t bytes_max) {
    std::string out;
    wire::JsonWriter w{out};
    write_record(w, record);
    if (out.size() <= bytes_max) return out;
    DecisionRecord shorter = record;
    shorter.why_json.clear();
    out.clear();
    wire::JsonWriter again{out};
    write_record(again, shorter);
    return out;
}

bool EtcdPicture::is_plain(const std::string& key) const {
    return key == keys_.prefill || key == keys_.decode || key == keys_.current || key == keys_.acknowledged ||
           key == keys_.leader;
}

void EtcdPicture::replace(const net::EtcdListing& listing) {
    as_of_ = listing.revision;
    plain_.clear();
    records_.clear();
    for (const EtcdPair& pair : listing.pairs) put(pair);
    // What is no longer there may be remarked on again.
    std::erase_if(remarked_, [this](const auto& entry) {
        return !plain_.contains(entry.first) && !entry.first.starts_with(keys_.records);
    });
}

void EtcdPicture::apply(std::int64_t revision, const std::vector<net::EtcdEvent>& events) {
    for (const net::EtcdEvent& event : events) {
        if (event.pair.mod_revision <= as_of_) continue;
        if (event.deleted) {
            erase(event.pair.key);
        } else {
            put(event.pair);
        }
    }
    as_of_ = std::max(as_of_, revision);
}

void EtcdPicture::put(const EtcdPair& pair) {
    if (pair.key.starts_with(keys_.records)) return put_record(pair);
    if (!is_plain(pair.key)) return;
    plain_[pair.key] = pair;
    if (pair.key == keys_.leader) return;
    // A client that starts may acknowledge "-1", which stands for nothing.
    const bool nothing = pair.key == keys_.acknowledged && pair.value == "-1";
    if (!nothing && !parse_etcd_number(pair.value)) remark(pair, "is no number, and counts as not set");
}

void EtcdPicture::erase(const std::string& key) {
    plain_.erase(key);
    records_.erase(key);
    remarked_.erase(key);
}

void EtcdPicture::put_record(const EtcdPair& pair) {
    const nlohmann::json object = nlohmann::json::parse(pair.value, nullptr, false);
    DecisionRecord record;
    std::string problem = read_record(object, record);
    if (problem.empty() && (record.decision_id < 0 || keys_.record(record.decision_id) != pair.key))
        problem = "names another decision";
    if (!problem.empty()) {
        records_.erase(pair.key);
        return remark(pair, problem + ", and is passed over");
    }
    records_[pair.key] = {std::move(record), pair.create_revision};
}

void EtcdPicture::remark(const EtcdPair& pair, const std::string& what) {
    auto& before = remarked_[pair.key];
    if (before == pair.value && !before.empty()) return;
    before = pair.value;
    if (remarks_.size() < remarks_max)
        remarks_.push_back("etcd: " + pair.key + " = " + shown(pair.value) + ' ' + what);
}

std::vector<std::string> EtcdPicture::take_remarks() { return std::exchange(remarks_, {}); }

std::optional<std::int64_t> EtcdPicture::number(const std::string& key) const {
    const auto found = plain_.find(key);
    return found == plain_.end() ? std::nullopt : parse_etcd_number(found->second.value);
}

std::int64_t EtcdPicture::written_at(const std::string& key) const {
    const auto found = plain_.find(key);
    return found == plain_.end() ? 0 : found->second.mod_revision;
}

std::int64_t EtcdPicture::leader_since() const {
    const auto found = plain_.find(keys_.leader);
    return found == plain_.end() ? 0 : found->second.create_revision;
}

std::optional<DecisionId> EtcdPicture::acknowledged() const { return number(keys_.acknowledged); }

std::vector<EtcdPair> EtcdPicture::leased() const {
    std::vector<EtcdPair> out;
    for (const std::string& key : {keys_.prefill, keys_.decode, keys_.current}) {
        const auto found = plain_.find(key);
        if (found != plain_.end() && found->second.lease != 0) out.push_back(found->second);
    }
    return out;
}

StoredState EtcdPicture::state() const {
    StoredState out;
    out.revision = static_cast<std::uint64_t>(written_at(keys_.current));
    out.current = number(keys_.current);
    out.acknowledged = acknowledged();
    const auto replicas = [&](const std::string& key) {
        const auto n = number(key);
        return n ? std::optional{Replicas{*n}} : std::nullopt;
    };
    out.prefill = replicas(keys_.prefill);
    out.decode = replicas(keys_.decode);
    for (const auto& [key, kept] : records_) {
        const DecisionRecord& record = kept.record;
        const bool newest = record.decision_id == out.current;
        // A foreign coordinator counts from 0 again, so its decision may have the id of one of ours.
        const bool same = record.prefill == out.prefill && record.decode == out.decode;
        if (newest && !same && kept.created_at != static_cast<std::int64_t>(out.revision)) continue;
        out.records.push_back(record);
        if (newest && record.state == DecisionState::acknowledged &&
            out.acknowledged.value_or(-1) < record.decision_id)
            out.records.back().state = DecisionState::published;
    }
    return out;
}

}  // namespace dynaplan::connector
