// A real nats-server of a test, and an adapter on it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bus/nats_adapter.hpp"
#include "bus/nats_publisher.hpp"
#include "support/server_process.hpp"
#include "support/temp_folder.hpp"
#include "unit/bus/rig.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::bus::testing {

class NatsServer {
public:
    // `configuration`: the file's text; ports and address are given on the command line.
    explicit NatsServer(const std::string& program, const std::string& configuration = {})
        : file_{folder_ / "nats.conf"} {
        configure(configuration);
        process_.emplace(
            [this, program](std::span<const unsigned short> ports) {
                return std::vector<std::string>{
                    program, "--addr", "127.0.0.1", "--port", std::to_string(ports[0]), "--config", file_};
            },
            1, folder_ / "log");
    }
    void configure(const std::string& configuration) { support::write_bytes(file_, configuration); }
    support::ServerProcess& process() { return *process_; }
    [[nodiscard]] std::string address(const std::string& scheme = "nats") const {
        return scheme + "://127.0.0.1:" + std::to_string(process_->port());
    }

private:
    support::TempFolder folder_;
    std::string file_;
    std::optional<support::ServerProcess> process_;
};

inline const wire::EventScope prefill_scope{"dynamo", "prefill", "generate"};
inline const wire::EventScope decode_scope{"dynamo", "backend", "generate"};

inline std::string subject(wire::Era era, const wire::EventScope& scope) {
    return wire::unchecked_subject(era, scope, wire::fpm_topic);
}

struct NatsRig : Rig {
    void open(NatsOptions options, const port::WorkerDirectory* directory = nullptr) {
        NatsPlane plane;
        plane.connection = std::move(options);
        plane.endpoints = {{prefill_scope, Role::prefill}, {decode_scope, Role::decode}};
        open(plane, directory);
    }
    void open(const NatsPlane& plane, const port::WorkerDirectory* directory = nullptr) {
        auto opened = NatsAdapter::open(io, plane, seen, counts, directory);
        REQUIRE_MESSAGE(opened.has_value(), opened.error().message);
        adapter = std::move(*opened);
    }
    static std::unique_ptr<NatsPublisher> publisher(const NatsOptions& options, wire::Era era,
                                                    const wire::EventScope& scope) {
        auto made = NatsPublisher::connect(options, subject(era, scope), 77);
        REQUIRE_MESSAGE(made.has_value(), made.error().message);
        return std::move(*made);
    }
    static void send(NatsPublisher& publisher, const std::string& bytes) {
        const auto sent = publisher.send(bytes, 1);
        REQUIRE_MESSAGE(sent.has_value(), sent.error().message);
        const auto flushed = publisher.flush();
        REQUIRE_MESSAGE(flushed.has_value(), flushed.error().message);
    }
    [[nodiscard]] std::uint64_t errors(std::string_view cause) const {
        const auto place = counts.errors.find(cause);
        return place == counts.errors.end() ? 0 : place->second;
    }
    [[nodiscard]] bool troubled_by(std::string_view text) const {
        return counts.trouble.find(text) != std::string::npos;
    }
    std::unique_ptr<NatsAdapter> adapter;
};

}  // namespace dynaplan::bus::testing
