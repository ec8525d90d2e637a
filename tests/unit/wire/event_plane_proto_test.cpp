// proto/event-plane.md says what the code does: every table and every sample of it is tried.
#include <doctest/doctest.h>

#include <array>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "proto_page.hpp"
#include "wire/broker_url.hpp"
#include "wire/discovery_key.hpp"
#include "wire/discovery_record.hpp"
#include "wire/envelope_json.hpp"
#include "wire/instance_id.hpp"
#include "wire/nats_subject.hpp"
#include "wire/zmq_frames.hpp"

namespace dynaplan::wire {
namespace {

using namespace test;

const std::string page = "event-plane.md";

std::vector<Row> table(const std::string& head, std::size_t which = 0) {
    return tables_of(page).at(head).at(which);
}

std::vector<std::string> hex_blocks(const std::string& kind) {
    std::vector<std::string> out;
    for (const std::string& block : blocks_of(page, kind)) {
        out.push_back(block == "(empty)\n" ? std::string{} : bytes_of(block));
    }
    return out;
}

TEST_CASE("proto/event-plane.md: the members are those of the code, in order") {
    std::string written;
    encode_envelope({1, 2, 3, fpm_topic, "p"}, written);
    std::size_t at = 0;
    const auto members = table("member");
    REQUIRE(members.size() == 5);
    for (const Row& row : members) {
        const std::size_t found = written.find(row[0], at);
        REQUIRE(found != std::string::npos);
        at = found + row[0].size();
        CHECK(row[1] == (row[0] == "topic" ? "str" : row[0] == "payload" ? "bin" : "u64"));
    }
}

TEST_CASE(
    "proto/event-plane.md: the sample envelopes are the sample objects, the first one as it is written") {
    const auto samples = hex_blocks("hex");
    const auto objects = blocks_of(page, "json");
    REQUIRE(samples.size() == 3);
    REQUIRE(objects.size() == samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        Envelope envelope;
        JsonEnvelope expected;
        REQUIRE(decode_envelope(samples[i], envelope).has_value());
        REQUIRE(decode_envelope_json(objects[i], expected).has_value());
        CHECK(envelope == expected.view());
        std::string written;
        encode_envelope(envelope, written);
        CHECK((written == samples[i]) == (i == 0));
    }
}

TEST_CASE("proto/event-plane.md: every cause is listed in order, and its samples are refused for it") {
    const auto causes = table("cause");
    REQUIRE(causes.size() == envelope_error_count);
    for (int i = 0; i < envelope_error_count; ++i) {
        const Row& row = causes[static_cast<std::size_t>(i)];
        const auto error = static_cast<EnvelopeError>(i);
        CHECK(row[0] == to_string(error));
        std::istringstream samples{row.size() > 2 ? row[2] : ""};
        int count = 0;
        for (std::string sample; std::getline(samples, sample, ','); ++count) {
            CAPTURE(sample);
            const bool empty = sample.find("(none)") != std::string::npos;
            Envelope envelope;
            const auto read = decode_envelope(empty ? "" : bytes_of(sample), envelope);
            REQUIRE_FALSE(read.has_value());
            CHECK(to_string(read.error()) == row[0]);
        }
        CHECK((count > 0) == (error != EnvelopeError::bad_json));
    }
}

TEST_CASE("proto/event-plane.md: the sample frames are the first envelope's event") {
    const auto frames = hex_blocks("frame");
    REQUIRE(frames.size() == 4);
    CHECK(table("frame").size() == 4);
    Envelope envelope;
    const auto samples = hex_blocks("hex");
    REQUIRE(decode_envelope(samples.at(0), envelope).has_value());
    std::array<std::string, 4> written;
    write_event(fpm_topic, envelope, written);
    CHECK(std::vector<std::string>{written.begin(), written.end()} == frames);
    EventMessage message;
    const std::vector<std::string_view> views{frames.begin(), frames.end()};
    REQUIRE(read_event(views, fpm_topic, message).has_value());
    CHECK_FALSE(message.identity_mismatch);
}

TEST_CASE("proto/event-plane.md: the causes for which an event is dropped are those of the code, in order") {
    const auto drops = table("drop");
    REQUIRE(drops.size() == event_drop_count);
    for (int i = 0; i < event_drop_count; ++i) {
        CHECK(drops[static_cast<std::size_t>(i)][0] == to_string(static_cast<EventDrop>(i)));
    }
}

TEST_CASE("proto/event-plane.md: the hop's sample is message 300 with the report of the first envelope") {
    const auto frames = hex_blocks("hop");
    REQUIRE(frames.size() == 3);
    CHECK(table("hop frame").size() == 3);
    const auto samples = hex_blocks("hex");
    Envelope envelope;
    REQUIRE(decode_envelope(samples.at(0), envelope).has_value());
    std::array<std::string, 3> written;
    write_engine_hop(300, envelope.payload, written);
    CHECK(std::vector<std::string>{written.begin(), written.end()} == frames);
}

TEST_CASE("proto/event-plane.md: subjects and routing keys of both eras") {
    const auto rows = table("namespace");
    REQUIRE(rows.size() >= 5);
    for (const Row& row : rows) {
        REQUIRE(row.size() == 6);
        EventScope scope{row[0], {}, {}};
        if (!row[1].empty()) scope.component = row[1];
        if (!row[2].empty()) scope.endpoint = row[2];
        const auto shown = [&](Era era) { return subject(era, scope, row[3]).value_or("refused"); };
        CHECK(shown(Era::april) == row[4]);
        CHECK(shown(Era::august) == row[5]);
        CHECK(zmq_routing_key(ZmqMode::direct, Era::august, scope, row[3]) == row[3]);
        CHECK(zmq_routing_key(ZmqMode::broker, Era::april, scope, row[3]) == row[3]);
        CHECK(zmq_routing_key(ZmqMode::broker, Era::august, scope, row[3]) == row[5]);
    }
}

TEST_CASE("proto/event-plane.md: the sample of a broker's addresses") {
    const auto samples = blocks_of(page, "broker");
    REQUIRE(samples.size() == 1);
    CHECK(parse_broker_url(samples[0]) ==
          BrokerUrl{{"tcp://b1:5555", "tcp://b2:5555"}, {"tcp://b1:5556", "tcp://b2:5556"}});
}

TEST_CASE("proto/event-plane.md: the spellings of ids") {
    for (const Row& row : table("instance_id")) {
        const auto id = static_cast<std::uint64_t>(std::stoull(row[0]));
        CHECK(hex_of_id(id) == row[1]);
        CHECK(id_from_hex(row[1]) == id);
        CHECK(worker_id_of(id) == row[2]);
    }
    for (const Row& row : table("resource")) CHECK(std::to_string(kube_instance_id(row[0])) == row[1]);
}

std::string joined(const EventScope& scope) {
    std::string text = scope.name_space;
    if (scope.component) text += '/' + *scope.component;
    if (scope.endpoint) text += '/' + *scope.endpoint;
    return text;
}

TEST_CASE("proto/event-plane.md: keys are read as the table says, and written again in their era") {
    const auto rows = table("key");
    REQUIRE(rows.size() >= 8);
    for (const Row& row : rows) {
        CAPTURE(row[0]);
        const auto key = parse_discovery_key(row[0]);
        REQUIRE(key);
        CHECK(joined(key->scope) == row[2]);
        CHECK(key->topic == row[3]);
        CHECK(std::to_string(key->id) == row[4]);
        CHECK(key->suffix.value_or("") == row[5]);
        CHECK((text_of(*key, Era::april) == row[0]) == (row[1] != "August"));
        CHECK((text_of(*key, Era::august) == row[0]) == (row[1] != "April"));
    }
    for (const Row& row : table("key below the bucket")) {
        CHECK(file_name_of(row[0]) == row[1]);
        CHECK(key_of_file_name(row[1]) == row[0]);
    }
}

std::vector<DiscoveryRecord> sample_records() {
    std::vector<DiscoveryRecord> records;
    for (const std::string& sample : blocks_of(page, "record")) {
        const std::size_t line = sample.find('\n');
        CAPTURE(sample.substr(0, line));
        const auto key = parse_discovery_key(sample.substr(0, line));
        const auto record = parse_discovery_record(sample.substr(line + 1));
        REQUIRE(key);
        REQUIRE(record);
        CHECK(agrees(*key, *record));
        records.push_back(*record);
    }
    REQUIRE(records.size() == 7);
    return records;
}

TEST_CASE("proto/event-plane.md: the sample values agree with their keys and are used as the page says") {
    const auto records = sample_records();
    CHECK_FALSE(std::get<ModelRecord>(records[0]).card.is_adapter);
    CHECK(std::get<ModelRecord>(records[1]).card.is_adapter);
    CHECK(std::get<ModelRecord>(records[1]).instance_id == std::get<ModelRecord>(records[0]).instance_id);
    CHECK(std::get<EndpointRecord>(records[2]).instance_id == 42);
    const auto use = [&](std::size_t i) { return use_of(std::get<ChannelRecord>(records[i]), fpm_topic); };
    CHECK(use(3) == ChannelUse::connect);
    CHECK(use(4) == ChannelUse::connect);
    CHECK(use(5) == ChannelUse::not_zmq);
    CHECK(use(6) == ChannelUse::broker);
    CHECK(std::get<ChannelRecord>(records[6]).transport.deduplicate());
}

TEST_CASE("proto/event-plane.md: the values of the sample card") {
    const auto records = sample_records();
    const ModelCard& card = std::get<ModelRecord>(records[0]).card;
    const auto text = [](const std::optional<std::int64_t>& count) {
        return count ? std::to_string(*count) : std::string{"unknown"};
    };
    const std::vector<std::pair<std::string, std::string>> ours{
        {"model name", card.model_name.value_or("unknown")},
        {"max_num_seqs", text(card.max_num_seqs)},
        {"max_num_batched_tokens", text(card.max_num_batched_tokens)},
        {"max_kv_tokens", text(max_kv_tokens(card))},
        {"context length, era unknown", text(context_length(card, std::nullopt))},
        {"context length, April", text(context_length(card, Era::april))},
        {"context length, August", text(context_length(card, Era::august))},
        {"first rank", text(card.rank_first)},
        {"ranks", text(card.rank_count)},
        {"role", card.role ? std::string{to_string(*card.role)} : "none"}};
    const auto rows = table("value");
    REQUIRE(rows.size() == ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        CHECK(rows[i][0] == ours[i].first);
        CHECK(rows[i][2] == ours[i].second);
    }
}

}  // namespace
}  // namespace dynaplan::wire
