#include "discovery/roster.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "discovery/card_worker.hpp"
#include "wire/discovery_record.hpp"
#include "wire/envelope.hpp"
#include "wire/instance_id.hpp"

namespace dynaplan::discovery {

namespace {

using wire::Bucket;

constexpr std::size_t elsewhere_named = 5;    // in one remark
constexpr std::size_t key_bytes_shown = 200;  // of a key, in a remark

struct Text {
    std::string_view cause;
    std::string_view text;
};
constexpr std::array<Text, 10> texts{{
    {"bad_key", "not a discovery key that is known; skipped"},
    {"bad_value", "the value is not a record of its bucket; skipped"},
    {"too_large", "the value is larger than any record; skipped"},
    {"not_scaled", "a worker of a kind that is not scaled (encode); left out"},
    {"too_many_ranks", "the card claims more data-parallel ranks than a process can have; left out"},
    {"rank_out_of_range", "the card claims a first data-parallel rank beyond any deployment; left out"},
    {"too_many_engines", "there are more engines than the planner follows; left out until others go"},
    {"too_many_cards", "there are more model cards than the planner follows; skipped"},
    {"too_many_channels", "there are more event channels than the planner follows; skipped"},
    {"bad_address", "the channel has no address to connect to (tcp://HOST:PORT); skipped"},
}};

std::string_view text_of(std::string_view cause) {
    const auto row =
        std::find_if(texts.begin(), texts.end(), [&](const Text& t) { return t.cause == cause; });
    return row == texts.end() ? cause : row->text;
}

// Keys come from outside: what a terminal would act upon is not repeated.
std::string shown(std::string_view key) {
    std::string text{key.substr(0, key_bytes_shown)};
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; },
        '?');
    return key.size() > key_bytes_shown ? text + "..." : text;
}

std::string place_of(const wire::EventScope& scope) {
    return scope.name_space + '/' + scope.component.value_or("") + '/' + scope.endpoint.value_or("");
}

}  // namespace

Roster::Roster(RosterOptions options, port::EventSink& events, port::ChannelSink* channels)
    : options_{std::move(options)}, workers_{events}, channels_{channels, options_.on_brokers} {}

void Roster::put(std::string_view key, std::string_view value) {
    const bool card = wire::is_under(key, to_string(Bucket::model_cards));
    if (!card && !wire::is_under(key, to_string(Bucket::event_channels))) return;
    ++counts_.read;
    const auto parsed = wire::parse_discovery_key(key);
    if (!parsed) return refuse("bad_key", key);
    if (card) {
        put_card(key, value, *parsed);
    } else {
        put_channel(key, value, *parsed);
    }
}

void Roster::put_card(std::string_view key, std::string_view value, const wire::DiscoveryKey& parsed) {
    const RolesHere here = options_.scope.roles_of_card(parsed.scope);
    if (!here.any()) {
        if (elsewhere_ < elsewhere_most) know(key, Kind::elsewhere);
        return;
    }
    if (value.size() > value_bytes_most) return refuse("too_large", key);
    auto record = wire::parse_discovery_record(value);
    auto* model = record ? std::get_if<wire::ModelRecord>(&*record) : nullptr;
    if (model == nullptr) return refuse("bad_value", key);
    if (model->instance_id != parsed.id) ++counts_.id_mismatches;
    wire::WorkerCard card{parsed.id, !parsed.suffix && !model->model_suffix && !model->card.is_adapter,
                          std::move(model->card)};
    card.card.role = role_of_card(card.card, value, here);
    if (!card.card.role) {  // it may have been another kind of worker before
        forget(key);
        return refuse("not_scaled", key);
    }
    const auto reading = worker_of(card.card, options_.defaults);
    if (!reading) return refuse(reading.error(), key);
    counts_.implausible += static_cast<std::uint64_t>(reading->implausible);
    if (cards_.card_count() >= cards_most && !known_.contains(key)) return refuse("too_many_cards", key);
    know(key, Kind::card);
    apply(cards_.put(key, std::move(card)));
}

void Roster::put_channel(std::string_view key, std::string_view value, const wire::DiscoveryKey& parsed) {
    const bool broker = options_.scope.is_broker(parsed.scope);
    const RolesHere here = options_.scope.roles_of_channel(parsed.scope);
    // Other topics, KV events above all, are of no interest. A broker's topic says nothing.
    if (!broker && (!here.any() || parsed.topic != wire::fpm_topic)) return;
    if (value.size() > value_bytes_most) return refuse("too_large", key);
    const auto record = wire::parse_discovery_record(value);
    const auto* channel = record ? std::get_if<wire::ChannelRecord>(&*record) : nullptr;
    if (channel == nullptr) return refuse("bad_value", key);
    if (channel->instance_id != parsed.id) ++counts_.id_mismatches;
    const bool is_broker_record = channel->transport.kind == wire::ChannelTransport::Kind::zmq_broker;
    if (broker != is_broker_record) return refuse("bad_value", key);
    const std::string_view cause = channels_.put(key, channel->transport, here.only());
    if (!cause.empty()) return refuse(cause, key);
    know(key, Kind::channel);
}

void Roster::remove(std::string_view key) {
    const auto place = known_.find(key);
    if (place == known_.end()) return;
    if (place->second != Kind::elsewhere) ++counts_.removed;
    forget(key);
    retry_left_out();
}

void Roster::replace_all(std::string_view prefix, std::span<const KeyValue> listing) {
    ++counts_.listings;
    std::set<std::string_view> listed;
    for (const KeyValue& entry : listing) {
        if (!wire::is_under(entry.key, prefix)) continue;
        listed.insert(entry.key);
        put(entry.key, entry.value);
    }
    std::vector<std::string> gone;
    for (auto place = known_.lower_bound(prefix);
         place != known_.end() && std::string_view{place->first}.starts_with(prefix); ++place) {
        if (wire::is_under(place->first, prefix) && !listed.contains(place->first)) {
            gone.push_back(place->first);
        }
    }
    for (const std::string& key : gone) remove(key);
}

void Roster::know(std::string_view key, Kind kind) {
    const auto [place, fresh] = known_.emplace(key, kind);
    if (fresh && kind == Kind::elsewhere) ++elsewhere_;
}

void Roster::forget(std::string_view key) {
    const auto place = known_.find(key);
    if (place == known_.end()) return;
    const Kind kind = place->second;
    switch (kind) {
        case Kind::card: apply(cards_.remove(key)); break;
        case Kind::channel: channels_.erase(key); break;
        case Kind::elsewhere: --elsewhere_; break;
    }
    known_.erase(place);
}

void Roster::apply(const wire::WorkerChanges& changes) {
    for (const wire::WorkerChange& change : changes) {
        if (change.kind == wire::WorkerChange::Kind::removed) {
            left_out_.erase(change.worker_id);
            workers_.erase(wire::worker_id_of(change.worker_id));
        } else if (!settle(change.worker_id)) {
            // A worker that has grown beyond the bound stays as it was.
            left_out_.insert(change.worker_id);
            refuse("too_many_engines", "worker " + wire::worker_id_of(change.worker_id));
        } else {
            left_out_.erase(change.worker_id);
        }
    }
}

bool Roster::settle(std::uint64_t worker_id) {
    const wire::ModelCard* card = cards_.card_of(worker_id);
    if (card == nullptr) return true;
    const auto reading = worker_of(*card, options_.defaults);
    return !reading || workers_.set(wire::worker_id_of(worker_id), reading->worker);
}

void Roster::retry_left_out() {
    for (auto place = left_out_.begin(); place != left_out_.end();) {
        if (!settle(*place)) return;  // nobody overtakes: the lowest id comes first
        place = left_out_.erase(place);
    }
}

void Roster::refuse(std::string_view cause, std::string_view key) {
    const std::uint64_t times = counts_.refuse(cause);
    std::string line = "discovery: " + shown(key) + ": " + std::string{text_of(cause)};
    if (times > 1) line += " (" + std::to_string(times) + " times by now)";
    const bool power_of_two = (times & (times - 1)) == 0;
    if (power_of_two && options_.on_remark) options_.on_remark(line);
    last_remark_.insert_or_assign(std::string{cause}, std::move(line));
}

RosterState Roster::state() const {
    RosterState out;
    out.workers = workers_.workers();
    out.engines = workers_.engines();
    out.channels = channels_.direct();
    out.brokers = channels_.brokers();
    out.nats_channels = channels_.nats();
    out.remarks = remarks();
    return out;
}

std::vector<std::string> Roster::remarks() const {
    std::vector<std::string> lines;
    std::set<std::string> places;
    for (const auto& [key, kind] : known_) {
        if (kind != Kind::elsewhere || places.size() >= elsewhere_named) continue;
        if (const auto parsed = wire::parse_discovery_key(key)) places.insert(place_of(parsed->scope));
    }
    for (const Role role : all_roles) {
        const auto& wanted = options_.scope.endpoints[role];
        if (wanted.empty() || workers_.workers()[role] > 0) continue;
        std::string line = "discovery: no " + std::string{to_string(role)} + " worker is registered under";
        for (const WorkerEndpoint& w : wanted) {
            line += ' ' + options_.scope.name_space + '/' + w.component + '/' + w.endpoint;
        }
        if (!places.empty()) line += "; others are under";
        for (const std::string& place : places) line += ' ' + shown(place);
        lines.push_back(std::move(line));
    }
    const bool want_zmq = channels_.wanted();
    if (want_zmq && channels_.direct() + channels_.brokers() == 0 && channels_.nats() > 0) {
        lines.emplace_back(
            "discovery: all publishers announce NATS, none ZMQ: set bus.transport to nats if events are to "
            "be heard");
    }
    if (!want_zmq && channels_.nats() == 0 && channels_.direct() > 0) {
        lines.emplace_back(
            "discovery: all publishers announce ZMQ, none NATS: set bus.transport to zmq if events are to be "
            "heard");
    }
    for (const auto& [cause, line] : last_remark_) lines.push_back(line);
    return lines;
}

}  // namespace dynaplan::discovery
