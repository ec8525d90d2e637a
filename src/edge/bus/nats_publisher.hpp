// Publishes events on NATS (event plane specification 4): for `publish`, tests and the demo. Every call may
// block for the connection's time-out; never on the service's loop. A lost connection is reported, not
// mended.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bus/nats_options.hpp"
#include "core/result.hpp"
#include "wire/envelope.hpp"

namespace dynaplan::bus {

class NatsPublisher {
public:
    // The subject as wire::subject builds it; `publisher_id` is unique among publishers.
    static Result<std::unique_ptr<NatsPublisher>> connect(const NatsOptions&, std::string subject,
                                                          std::uint64_t publisher_id,
                                                          std::string topic = std::string{wire::fpm_topic});
    ~NatsPublisher();
    NatsPublisher(const NatsPublisher&) = delete;
    NatsPublisher& operator=(const NatsPublisher&) = delete;

    // Hands the event to the library, which sends it soon. `published_at_ms`: since the Unix epoch.
    Result<void> send(std::string_view payload, std::uint64_t published_at_ms);
    // Waits until the server has all of it. Also tells when it refused to take it.
    Result<void> flush();

private:
    struct Connection;
    explicit NatsPublisher(std::unique_ptr<Connection>);
    std::unique_ptr<Connection> connection_;
};

}  // namespace dynaplan::bus
