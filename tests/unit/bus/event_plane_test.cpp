// Direct mode over real sockets on the loopback.
#include "bus/event_plane.hpp"

#include <doctest/doctest.h>

#include "bus/event_publisher.hpp"
#include "unit/bus/rig.hpp"

using namespace dynaplan;
using namespace dynaplan::bus;
using testing::payload;

namespace {

struct Rig : testing::Rig {
    void open(const std::vector<EventEndpoint>& endpoints = {},
              const port::WorkerDirectory* directory = nullptr) {
        auto opened = EventPlane::open(io, context, endpoints, seen, counts, directory);
        REQUIRE(opened.has_value());
        plane = std::move(*opened);
    }
    std::unique_ptr<EventPublisher> publisher(const std::string& url = "tcp://127.0.0.1:*",
                                              EventPublisherOptions options = {.publisher_id = 77}) {
        options.drops = false;
        auto bound = EventPublisher::bind(context, url, options);
        REQUIRE_MESSAGE(bound.has_value(), bound.error().message);
        return std::move(*bound);
    }
    std::unique_ptr<EventPlane> plane;
};

using Four = std::array<std::string, 4>;

Four event(const std::string& bytes, std::string_view topic = wire::fpm_topic, std::uint64_t sequence = 0) {
    Four frames;
    wire::write_event(topic, {77, sequence, 1, topic, bytes}, frames);
    return frames;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("event plane: reports of a configured endpoint arrive with its role, in order") {
        Rig rig;
        const auto prefill = rig.publisher();
        const auto decode = rig.publisher();
        rig.open({{prefill->endpoint(), Role::prefill}, {decode->endpoint(), Role::decode}});
        CHECK_FALSE(rig.counts.connected);
        rig.until([&] { return prefill->subscribers() == 1 && decode->subscribers() == 1; });
        constexpr int n = 2000;
        int sent = 0;
        rig.until([&] {
            while (sent < n && decode->send(payload("7", sent < 10 ? sent : sent + 5), 1)) ++sent;
            return sent == n;
        });
        REQUIRE(prefill->send(payload("8", 0), 1));
        rig.until([&] { return rig.seen.reports.size() == n + 1; });
        std::int64_t last = -1;
        for (const FpmArrived& r : rig.seen.reports) {
            CHECK(r.role == (r.fpm.worker_id == "8" ? Role::prefill : Role::decode));
            if (r.role == Role::prefill) continue;
            REQUIRE(r.fpm.pass.counter_id > last);
            last = r.fpm.pass.counter_id;
        }
        CHECK(rig.counts.received == n + 1);
        CHECK(rig.counts.decoded == n + 1);
        CHECK(rig.counts.gaps == 5);
        CHECK(rig.refused() == 0);
        CHECK(rig.counts.identity_mismatch == 0);
        CHECK(rig.seen.links == std::vector<bool>{true});
        CHECK(rig.counts.trouble.empty());
    }

    TEST_CASE(
        "event plane: every kind of hostile message is counted under its name, and the stream goes on") {
        Rig rig;
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        const Four good = event(payload("7", 1));
        const std::string topic{wire::fpm_topic};
        std::vector<std::pair<std::string, std::vector<std::string>>> cases;
        const auto damaged = [&](const std::string& cause, std::size_t frame, const std::string& bytes) {
            std::vector<std::string> frames{good.begin(), good.end()};
            frames[frame] = bytes;
            cases.emplace_back(cause, frames);
        };
        const auto enveloped = [](const std::string& envelope) {
            std::string framed{'\1', '\0', '\0', '\0', static_cast<char>(envelope.size())};
            return framed + envelope;
        };
        cases.push_back({"frame_count", {topic, good[1], good[2]}});
        cases.push_back({"frame_count", {topic, good[1], good[2], good[3], ""}});
        cases.push_back({"frame_count", {topic}});
        damaged("publisher_id_length", 1, "1234567");
        damaged("sequence_length", 2, "123456789");
        damaged("frame_incomplete_header", 3, "1234");
        damaged("frame_version", 3, "\2" + good[3].substr(1));
        damaged("frame_incomplete_payload", 3, good[3].substr(0, good[3].size() - 1));
        damaged("envelope_truncated", 3, enveloped(""));
        damaged("envelope_bad_root", 3, enveloped("\1"));
        damaged("envelope_reserved_byte", 3, enveloped("\xc1"));
        damaged("envelope_bad_key", 3, enveloped("\x81\1\1"));
        damaged("envelope_bad_utf8", 3, enveloped("\x81\xa1\xff\1"));
        damaged("envelope_missing_field", 3, enveloped("\x80"));
        damaged("envelope_wrong_type", 3, enveloped("\x81\xa8sequence\xff"));
        damaged("envelope_duplicate_field", 3, enveloped("\x82\xa8sequence\1\xa8sequence\1"));
        // A prefix is all that a subscription asks for.
        const Four collision = event(payload("7", 1), topic + "-archive");
        cases.push_back({"other_topic", {collision.begin(), collision.end()}});
        Four other = event(payload("7", 1), "kv-events");
        other[0] = topic;
        cases.push_back({"other_topic", {other.begin(), other.end()}});
        const Four early = event("");
        cases.push_back({"truncated", {early.begin(), early.end()}});
        const Four anonymous = event(payload("", 1));
        cases.push_back({"empty_worker_id", {anonymous.begin(), anonymous.end()}});

        std::map<std::string, std::uint64_t, std::less<>> expected;
        for (const auto& [cause, frames] : cases) {
            ++expected[cause];
            raw.send(frames);
        }
        raw.send(good);
        rig.until([&] { return rig.seen.reports.size() == 1; });
        CHECK(rig.counts.refused == expected);
        CHECK(rig.counts.received == cases.size() + 1);
        CHECK(rig.counts.links_down == 0);
    }

    TEST_CASE("event plane: what is not of the topic does not even arrive") {
        Rig rig;
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        raw.send(event(payload("7", 1), "kv-events"));
        raw.send(event(payload("7", 1)));
        rig.until([&] { return rig.seen.reports.size() == 1; });
        CHECK(rig.counts.received == 1);
    }

    TEST_CASE("event plane: frames that disagree with the envelope are believed less, and counted") {
        Rig rig;
        testing::RawPublisher raw{rig.context};
        rig.open({{raw.endpoint(), Role::decode}});
        rig.until([&] { return raw.subscriptions() == 1; });
        Four frames = event(payload("7", 1));
        frames[1] = "12345678";
        raw.send(frames);
        frames = event(payload("7", 2));
        frames[2] = "12345678";
        raw.send(frames);
        frames = event(payload("7", 3));
        frames[0] += "-archive";
        raw.send(frames);
        raw.send(event(payload("7", 4)));
        rig.until([&] { return rig.seen.reports.size() == 4; });
        CHECK(rig.counts.identity_mismatch == 3);
        CHECK(rig.refused() == 0);
    }

    TEST_CASE("event plane: what was sent before the subscription is a gap like any other") {
        Rig rig;
        const auto engine = rig.publisher();
        for (int i = 0; i < 10; ++i) REQUIRE(engine->send(payload("7", i), 1));
        rig.open({{engine->endpoint(), Role::decode}});
        rig.until([&] { return engine->subscribers() == 1; });
        REQUIRE(engine->send(payload("7", 10), 1));
        REQUIRE(engine->send(payload("7", 12), 1));
        rig.until([&] { return rig.seen.reports.size() == 2; });
        CHECK(rig.seen.reports[0].fpm.pass.counter_id == 10);
        CHECK(rig.counts.gaps == 1);
    }

    TEST_CASE("event plane: a publisher that starts anew is a link that went and came back, and no loss") {
        Rig rig;
        auto engine = rig.publisher();
        const std::string url = engine->endpoint();
        rig.open({{url, Role::decode}});
        rig.until([&] { return engine->subscribers() == 1; });
        REQUIRE(engine->send(payload("7", 500), 1));
        rig.until([&] { return rig.seen.reports.size() == 1; });
        engine.reset();
        rig.until([&] { return rig.seen.links == std::vector<bool>{true, false}; });
        CHECK_FALSE(rig.counts.connected);
        CHECK(rig.counts.trouble.find(url) != std::string::npos);
        engine = rig.publisher(url);
        rig.until([&] { return engine->subscribers() == 1 && rig.counts.connected; });
        REQUIRE(engine->send(payload("7", 0), 1));
        rig.until([&] { return rig.seen.reports.size() == 2; });
        CHECK(rig.seen.links == std::vector<bool>{true, false, true});
        CHECK(rig.counts.links_up == 2);
        CHECK(rig.counts.links_down == 1);
        CHECK(rig.counts.gaps == 0);
    }

    TEST_CASE("event plane: channels that discovery finds are connected, moved and closed") {
        Rig rig;
        const auto first = rig.publisher();
        const auto second = rig.publisher();
        rig.open();
        CHECK_FALSE(rig.counts.connected);
        CHECK(rig.counts.trouble == "no publisher is known yet");
        const std::string key = "v1/event_channels/dynamo/backend/forward-pass-metrics/4d";
        rig.plane->channel_added({key, first->endpoint(), Role::decode});
        rig.plane->channel_added({key, first->endpoint(), Role::decode});
        rig.until([&] { return first->subscribers() == 1 && rig.counts.connected; });
        // The same address under another role: the connection stays.
        rig.plane->channel_added({key, first->endpoint(), Role::prefill});
        REQUIRE(first->send(payload("7", 0), 1));
        rig.until([&] { return rig.seen.reports.size() == 1; });
        CHECK(rig.seen.reports[0].role == Role::prefill);
        CHECK(rig.counts.links_up == 1);

        rig.plane->channel_added({key, second->endpoint(), Role::decode});
        rig.until(
            [&] { return second->subscribers() == 1 && first->subscribers() == 0 && rig.counts.connected; });
        REQUIRE(second->send(payload("7", 1), 1));
        rig.until([&] { return rig.seen.reports.size() == 2; });
        CHECK(rig.seen.reports[1].role == Role::decode);

        rig.plane->channel_removed(key);
        rig.plane->channel_removed(key);
        rig.until([&] { return second->subscribers() == 0; });
        CHECK_FALSE(rig.counts.connected);
        CHECK(rig.counts.trouble == "no publisher is known yet");
        CHECK(rig.seen.links == std::vector<bool>{true, false, true});
    }

    TEST_CASE("event plane: a channel whose address cannot be used is named, and the others work") {
        Rig rig;
        const auto engine = rig.publisher();
        rig.open();
        rig.plane->channel_added({"a", "http://10.0.0.1:80", Role::decode});
        rig.plane->channel_added({"a", "http://10.0.0.1:80", Role::decode});
        rig.plane->channel_added({"b", engine->endpoint(), Role::decode});
        rig.until([&] { return engine->subscribers() == 1 && rig.counts.connected; });
        CHECK(rig.counts.errors.at("channel_address") == 1);
        CHECK(rig.counts.trouble.find("http://10.0.0.1:80") != std::string::npos);
        rig.plane->channel_removed("a");
        CHECK(rig.counts.trouble.empty());
    }

    TEST_CASE("event plane: a channel without a role needs somebody who knows the worker") {
        const testing::Directory directory;
        Rig rig;
        const auto engine = rig.publisher();
        rig.open({}, &directory);
        rig.plane->channel_added({"a", engine->endpoint(), std::nullopt});
        rig.until([&] { return engine->subscribers() == 1; });
        REQUIRE(engine->send(payload("1", 0), 1));
        REQUIRE(engine->send(payload("3", 0), 1));
        rig.until([&] { return rig.counts.received == 2; });
        REQUIRE(rig.seen.reports.size() == 1);
        CHECK(rig.seen.reports[0].role == Role::prefill);
        CHECK(rig.refused("unknown_worker") == 1);

        Rig alone;
        const auto other = alone.publisher();
        alone.open({{other->endpoint(), std::nullopt}});
        alone.until([&] { return other->subscribers() == 1; });
        REQUIRE(other->send(payload("1", 0), 1));
        alone.until([&] { return alone.refused("unknown_role") == 1; });
        CHECK(alone.seen.reports.empty());
    }

    TEST_CASE("event plane: a channel may go while one of its messages is taken") {
        // The sink stands for a service that closes what it hears from.
        struct Closer final : port::EventSink {
            void take(Event& event) override {
                if (!std::holds_alternative<FpmArrived>(event.body)) return;
                ++reports;
                plane->channel_removed("a");
            }
            EventPlane* plane = nullptr;
            int reports = 0;
        };
        Rig rig;
        Closer closer;
        const auto engine = rig.publisher();
        auto opened = EventPlane::open(rig.io, rig.context, {}, closer, rig.counts);
        REQUIRE(opened.has_value());
        closer.plane = opened->get();
        closer.plane->channel_added({"a", engine->endpoint(), Role::decode});
        rig.until([&] { return engine->subscribers() == 1; });
        for (int i = 0; i < 10; ++i) REQUIRE(engine->send(payload("7", i), 1));
        rig.until([&] { return engine->subscribers() == 0; });
        CHECK(closer.reports == 1);
    }

    TEST_CASE("event plane: all addresses of the configuration that cannot be used are named at once") {
        Rig rig;
        const auto opened =
            EventPlane::open(rig.io, rig.context, {{"nonsense", Role::decode}, {"udp://x", Role::decode}},
                             rig.seen, rig.counts);
        REQUIRE_FALSE(opened.has_value());
        CHECK(opened.error().message.find("nonsense") != std::string::npos);
        CHECK(opened.error().message.find("udp://x") != std::string::npos);
    }
}
