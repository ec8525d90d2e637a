#include "discovery/scope.hpp"

#include "seen.hpp"

using namespace dynaplan;
using namespace dynaplan::discovery;

TEST_SUITE("unit") {
    TEST_CASE("scope: the namespace is dynamo unless somebody says otherwise, and must fit into a key") {
        CHECK(default_scope({}, "vllm", Mode::disagg)->name_space == "dynamo");
        CHECK(default_scope("dynamo-a1b2", "vllm", Mode::disagg)->name_space == "dynamo-a1b2");
        for (const std::string_view wrong : {"", "a/b"}) {
            const auto scope = default_scope(wrong, "vllm", Mode::disagg);
            REQUIRE_FALSE(scope.has_value());
            CHECK(scope.error().message.find("namespace") != std::string::npos);
        }
    }

    TEST_CASE("scope: each backend's workers are looked for where both eras' register") {
        using Places = std::vector<WorkerEndpoint>;
        for (const std::string_view backend : {"vllm", "sglang", "mocker"}) {
            const auto scope = default_scope({}, backend, Mode::disagg);
            REQUIRE(scope.has_value());
            CHECK(scope->endpoints.prefill == Places{{"prefill", "generate"}});
            CHECK(scope->endpoints.decode == Places{{"backend", "generate"}});
        }
        const auto trtllm = default_scope({}, "trtllm", Mode::disagg);
        CHECK(trtllm->endpoints.decode == Places{{"tensorrt_llm", "generate"}, {"backend", "generate"}});
        CHECK(default_scope({}, "vllm", Mode::agg)->endpoints.prefill.empty());
        CHECK(default_scope({}, "vllm", Mode::prefill)->endpoints.decode.empty());
        CHECK_FALSE(default_scope({}, "lmdeploy", Mode::agg).has_value());
    }

    TEST_CASE("scope: places are compared whole, never as prefixes of text") {
        const Scope scope = *default_scope({}, "vllm", Mode::disagg);
        const auto card = [&](std::string ns, std::string component, std::string endpoint) {
            return scope.roles_of_card({std::move(ns), std::move(component), std::move(endpoint)});
        };
        CHECK(card("dynamo", "backend", "generate").only() == Role::decode);
        CHECK(card("dynamo", "prefill", "generate").only() == Role::prefill);
        CHECK_FALSE(card("dynamo", "backend2", "generate").any());
        CHECK_FALSE(card("dynamo", "backend", "generate2").any());
        CHECK_FALSE(card("dynamo2", "backend", "generate").any());
        CHECK_FALSE(scope.roles_of_card({"dynamo", "backend", {}}).any());
        CHECK(scope.roles_of_channel({"dynamo", "backend", {}}).only() == Role::decode);
        CHECK(scope.roles_of_channel({"dynamo", "backend", "generate"}).only() == Role::decode);
        CHECK_FALSE(scope.roles_of_channel({"dynamo", "backend", "generate2"}).any());
        CHECK_FALSE(scope.roles_of_channel({"dynamo", {}, {}}).any());
        CHECK(scope.is_broker({"dynamo", "zmq_broker", {}}));
        CHECK_FALSE(scope.is_broker({"other", "zmq_broker", {}}));
    }

    TEST_CASE("scope: what to watch ends in a slash, in both eras' layouts, odd names encoded") {
        Scope scope;
        scope.name_space = "ns.one";
        CHECK(scope.watch_prefixes() ==
              Lines{"v1/mdc/ns.one/", "v1/event_channels/ns.one/", "v1/event_channels/namespace/ns%2Eone/"});
        scope.name_space = "namespace";  // listings of two watches must not speak of the same keys
        CHECK(scope.watch_prefixes() == Lines{"v1/mdc/namespace/", "v1/event_channels/namespace/"});
    }

    TEST_CASE("scope: the file store lies where DYN_FILE_KV says, else in the temporary folder") {
        CHECK(file_store_root("/srv/kv", "/tmp") == "/srv/kv");
        CHECK(file_store_root("", "/tmp") == "/tmp/dynamo_store_kv");
        CHECK(file_store_root({}, "/var/tmp/") == "/var/tmp/dynamo_store_kv");
        CHECK(file_store_root({}, "") == "/tmp/dynamo_store_kv");
    }
}
