// What discovery told the core and a bus, in the order in which it did, as short lines; and records to feed
// it with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "discovery/roster.hpp"
#include "port/channels.hpp"
#include "port/event_sink.hpp"
#include "wire/instance_id.hpp"

namespace dynaplan::discovery {

class SeenEvents final : public port::EventSink {
public:
    void take(Event& event) override {
        if (const auto* joined = std::get_if<EngineJoined>(&event.body)) {
            note("+", joined->role, joined->engine);
            capabilities[joined->engine.worker_id] = joined->capabilities;
        } else if (const auto* left = std::get_if<EngineLeft>(&event.body)) {
            note("-", left->role, left->engine);
        } else {
            lines.emplace_back("another event");
        }
    }
    // The lines since the last call.
    std::vector<std::string> taken() { return std::exchange(lines, {}); }

    std::vector<std::string> lines;  // "+decode 7.0": rank 0 of worker 7 joined
    std::map<std::string, Capabilities> capabilities;

private:
    void note(std::string_view sign, Role role, const EngineKey& engine) {
        lines.push_back(std::string{sign} + std::string{to_string(role)} + ' ' + engine.worker_id + '.' +
                        std::to_string(engine.dp_rank));
    }
};

class SeenChannels final : public port::ChannelSink {
public:
    void channel_added(const port::Channel& channel) override {
        lines.push_back('+' + channel.url + ' ' +
                        std::string{channel.role ? to_string(*channel.role) : "none"});
    }
    void channel_removed(std::string_view key) override { lines.push_back('-' + std::string{key}); }
    std::vector<std::string> taken() { return std::exchange(lines, {}); }

    std::vector<std::string> lines;
};

struct RosterRig {
    explicit RosterRig(Mode mode = Mode::disagg, std::string_view backend = "vllm")
        : RosterRig{RosterOptions{*default_scope({}, backend, mode), {}, {}, {}}} {}
    explicit RosterRig(RosterOptions options) : roster{with_remarks(std::move(options)), events, &channels} {}

    RosterOptions with_remarks(RosterOptions options) {
        options.on_brokers = [this](const std::vector<std::string>& xpub) { brokers.push_back(xpub); };
        options.on_remark = [this](const std::string& line) { remarks.push_back(line); };
        return options;
    }
    [[nodiscard]] std::uint64_t refused(std::string_view cause) const {
        const auto place = roster.counts().refused.find(cause);
        return place == roster.counts().refused.end() ? 0 : place->second;
    }

    SeenEvents events;
    SeenChannels channels;
    std::vector<std::vector<std::string>> brokers;
    std::vector<std::string> remarks;
    Roster roster;
};

using Lines = std::vector<std::string>;

inline std::string card_key(std::string_view component, std::uint64_t id, std::string_view suffix = "") {
    std::string key = "v1/mdc/dynamo/" + std::string{component} + "/generate/" + wire::hex_of_id(id);
    if (!suffix.empty()) key += '/' + std::string{suffix};
    return key;
}

// `card`: members of card_json; `runtime`: members of its runtime_config.
inline std::string card_value(std::uint64_t id, std::string_view runtime = "", std::string_view card = "") {
    std::string text = R"({"type":"Model","namespace":"dynamo","component":"backend","endpoint":"generate",)";
    text += R"("instance_id":)" + std::to_string(id) + R"(,"card_json":{"display_name":"m")";
    if (!card.empty()) text += ',' + std::string{card};
    return text + R"(,"runtime_config":{)" + std::string{runtime} + "}}}";
}

inline std::string april_channel_value(std::string_view transport) {
    return R"({"type":"EventChannel","namespace":"dynamo","component":"backend",)"
           R"("topic":"forward-pass-metrics","instance_id":7,"transport":)" +
           std::string{transport} + "}";
}
inline std::string zmq(std::string_view url) {
    return R"({"kind":"Zmq","config":{"endpoint":")" + std::string{url} + "\"}}";
}

}  // namespace dynaplan::discovery
