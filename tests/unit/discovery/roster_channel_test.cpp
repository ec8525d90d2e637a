#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

namespace {

const std::string april = "v1/event_channels/dynamo/backend/forward-pass-metrics/7";
const std::string august =
    "v1/event_channels/namespace/dynamo/component/prefill/endpoint/generate/topic/forward-pass-metrics/"
    "1790f09b765512";

std::string august_value(std::string_view url) {
    return R"({"type":"EventChannel","scope":{"kind":"endpoint","endpoint":{"namespace":"dynamo",)"
           R"("component":"prefill","name":"generate"}},"topic":"forward-pass-metrics",)"
           R"("instance_id":6633287539119378,"transport":)" +
           zmq(url) + "}";
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("roster: publishers of both eras are handed on with their component's role") {
        RosterRig rig;
        rig.roster.put(april, april_channel_value(zmq("tcp://10.0.0.5:38117")));
        rig.roster.put(august, august_value("tcp://[fd00::5]:38117"));
        CHECK(rig.channels.taken() ==
              Lines{"+tcp://10.0.0.5:38117 decode", "+tcp://[fd00::5]:38117 prefill"});
        CHECK(rig.roster.state().channels == 2);
        rig.roster.put(april, april_channel_value(zmq("tcp://10.0.0.5:38117")));
        CHECK(rig.channels.taken().empty());
        rig.roster.put(april, april_channel_value(zmq("tcp://10.0.0.6:1")));  // another address
        CHECK(rig.channels.taken() == Lines{"+tcp://10.0.0.6:1 decode"});
        rig.roster.replace_all("v1/event_channels", std::vector<KeyValue>{});
        CHECK(rig.channels.taken() == Lines{'-' + april, '-' + august});
        CHECK(rig.events.taken().empty());
    }

    TEST_CASE("roster: other topics, places and neighbours are left alone") {
        RosterRig rig;
        const std::string value = april_channel_value(zmq("tcp://10.0.0.5:38117"));
        for (const std::string_view key :
             {"v1/event_channels/dynamo/backend/kv-events/7",
              "v1/event_channels/dynamo/backend2/forward-pass-metrics/7",
              "v1/event_channels/dynamo2/backend/forward-pass-metrics/7",
              "v1/event_channels/dynamo//forward-pass-metrics/7",
              "v1/event_channels/namespace/dynamo/topic/forward-pass-metrics/7",
              "v1/event_channels/namespace/dynamo/component/backend/endpoint/generate2/topic/"
              "forward-pass-metrics/7"}) {
            rig.roster.put(key, value);
            rig.roster.remove(key);
        }
        CHECK(rig.channels.taken().empty());
        CHECK(rig.roster.counts().refused.empty());
        rig.roster.put("v1/event_channels/namespace/dynamo/component/backend/topic/forward-pass-metrics/7",
                       value);
        CHECK(rig.channels.taken().size() == 1);
    }

    TEST_CASE("roster: addresses that nobody can connect to are refused, and an older one stays") {
        RosterRig rig;
        rig.roster.put(april, april_channel_value(zmq("tcp://10.0.0.5:38117")));
        rig.channels.taken();
        for (const std::string& url :
             {std::string{}, std::string{"10.0.0.5:38117"}, std::string{"inproc://x"},
              std::string{"tcp://a b"}, "tcp://" + std::string(600, 'a')}) {
            rig.roster.put(april, april_channel_value(zmq(url)));
        }
        CHECK(rig.refused("bad_address") == 5);
        rig.roster.put(april, april_channel_value(R"({"kind":"Zmq","config":{}})"));
        rig.roster.put(april, april_channel_value(R"({"kind":"Pigeon"})"));
        CHECK(rig.refused("bad_value") == 2);
        CHECK(rig.channels.taken().empty());
        CHECK(rig.roster.state().channels == 1);
    }

    TEST_CASE("roster: publishers that chose another transport than we are told of") {
        RosterRig rig;
        rig.roster.put(april, april_channel_value(R"({"kind":"Nats","config":{"subject_prefix":"x"}})"));
        CHECK(rig.channels.taken().empty());
        CHECK(rig.roster.state().nats_channels == 1);
        CHECK(rig.roster.state().remarks.back().find("announce NATS, none ZMQ") != std::string::npos);
        rig.roster.put(april, april_channel_value(zmq("tcp://10.0.0.5:38117")));
        CHECK(rig.channels.taken() == Lines{"+tcp://10.0.0.5:38117 decode"});
        CHECK(rig.roster.state().nats_channels == 0);
        CHECK(rig.roster.state().remarks.back().find("NATS") == std::string::npos);
        rig.roster.put(april, april_channel_value(R"({"kind":"Nats","config":{"subject_prefix":"x"}})"));
        CHECK(rig.channels.taken() == Lines{'-' + april});

        SeenEvents events;  // a NATS bus connects to no channel
        Roster roster{{*default_scope({}, "vllm", Mode::disagg), {}, {}, {}}, events, nullptr};
        roster.put(april, april_channel_value(zmq("tcp://10.0.0.5:38117")));
        CHECK(roster.state().channels == 1);
        CHECK(roster.state().remarks.back().find("announce ZMQ, none NATS") != std::string::npos);
        roster.remove(april);
        CHECK(roster.state().channels == 0);
    }

    TEST_CASE("roster: brokers' addresses are told together, whenever they change") {
        RosterRig rig;
        const auto broker = [](std::string_view xpub) {
            return R"({"type":"EventChannel","namespace":"dynamo","component":"zmq_broker","topic":"broker",)"
                   R"("instance_id":31,"transport":{"kind":"ZmqBroker","config":{"xsub_endpoints":[],)"
                   R"("xpub_endpoints":)" +
                   std::string{xpub} + "}}}";
        };
        const std::string one = "v1/event_channels/dynamo/zmq_broker/broker/1f";
        const std::string two = "v1/event_channels/namespace/dynamo/component/zmq_broker/topic/any/20";
        rig.roster.put(one, broker(R"(["tcp://b1:5556","tcp://b2:5556"])"));
        rig.roster.put(one, broker(R"(["tcp://b2:5556","tcp://b1:5556"])"));
        rig.roster.put(two, broker(R"(["tcp://b3:5556"])"));
        rig.roster.put(two, broker("[]"));
        rig.roster.put(two, broker(R"(["nonsense"])"));
        rig.roster.put(april, broker(R"(["tcp://b9:5556"])"));  // no broker's place
        CHECK(rig.refused("bad_address") == 2);
        CHECK(rig.refused("bad_value") == 1);
        CHECK(rig.roster.state().brokers == 2);
        rig.roster.remove(one);
        rig.roster.remove(two);
        REQUIRE(rig.brokers.size() == 4);
        CHECK(rig.brokers[0] == Lines{"tcp://b1:5556", "tcp://b2:5556"});
        CHECK(rig.brokers[1] == Lines{"tcp://b1:5556", "tcp://b2:5556", "tcp://b3:5556"});
        CHECK(rig.brokers[2] == Lines{"tcp://b3:5556"});
        CHECK(rig.brokers[3].empty());
        CHECK(rig.channels.taken().empty());
    }

    TEST_CASE("roster: encoded names of August's keys mean the plain ones") {
        Scope scope{"ns.one", {{}, {{"worker/*", "gen"}}}};
        RosterRig rig{RosterOptions{scope, {}, {}, {}}};
        rig.roster.put(
            "v1/event_channels/namespace/ns%2Eone/component/worker%2F%2A/endpoint/gen/topic/"
            "forward-pass-metrics/2a",
            R"({"type":"EventChannel","scope":{"kind":"endpoint","endpoint":{"namespace":"ns.one",)"
            R"("component":"worker/*","name":"gen"}},"topic":"forward-pass-metrics","instance_id":42,)"
            R"("transport":)" +
                zmq("tcp://h:1") + "}");
        CHECK(rig.channels.taken() == Lines{"+tcp://h:1 decode"});
        CHECK(rig.roster.counts().id_mismatches == 0);
    }
}
