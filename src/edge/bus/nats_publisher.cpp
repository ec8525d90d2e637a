#include "bus/nats_publisher.hpp"

#include <limits>
#include <utility>

#include "bus/nats_library.hpp"

namespace dynaplan::bus {

struct NatsPublisher::Connection {
    NatsConnectionPtr handle;
    std::string place;  // the server and the subject, for messages
    std::string subject;
    std::string topic;
    std::uint64_t publisher_id = 0;
    std::uint64_t sequence = 0;
    std::int64_t timeout_ms = 0;
    std::string bytes;

    [[nodiscard]] tl::unexpected<Error> failed(natsStatus status) const {
        const std::string last = last_error(handle.get());
        return failure(place + ": " + (last.empty() ? text_of(status) : last));
    }
};

NatsPublisher::NatsPublisher(std::unique_ptr<Connection> connection) : connection_{std::move(connection)} {}
NatsPublisher::~NatsPublisher() = default;

Result<std::unique_ptr<NatsPublisher>> NatsPublisher::connect(const NatsOptions& options, std::string subject,
                                                              std::uint64_t publisher_id, std::string topic) {
    if (const auto good = check(options); !good) return tl::unexpected{good.error()};
    if (const auto good = check_subject(subject); !good) return tl::unexpected{good.error()};
    const std::string server = "NATS server " + shown(options.server);
    const auto settings = NatsSettings::make(options);
    if (!settings) return failure(server + ": " + settings.error().message);
    // A server that takes nothing more must not block a publisher for ever.
    natsOptions_SetWriteDeadline(settings->get(), options.connect_timeout.count());
    natsConnection* made = nullptr;
    if (const natsStatus status = natsConnection_Connect(&made, settings->get()); status != NATS_OK)
        return failure(server + ": " + text_of(status));
    auto connection = std::make_unique<Connection>();
    connection->handle.reset(made);
    connection->place = server + ", subject " + subject;
    connection->subject = std::move(subject);
    connection->topic = std::move(topic);
    connection->publisher_id = publisher_id;
    connection->timeout_ms = options.connect_timeout.count();
    return std::unique_ptr<NatsPublisher>{new NatsPublisher{std::move(connection)}};
}

Result<void> NatsPublisher::send(std::string_view payload, std::uint64_t published_at_ms) {
    Connection& c = *connection_;
    c.bytes.clear();
    wire::encode_envelope({c.publisher_id, c.sequence, published_at_ms, c.topic, payload}, c.bytes);
    if (c.bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        return c.failed(NATS_MAX_PAYLOAD);
    const natsStatus status = natsConnection_Publish(c.handle.get(), c.subject.c_str(), c.bytes.data(),
                                                     static_cast<int>(c.bytes.size()));
    if (status != NATS_OK) return c.failed(status);
    ++c.sequence;
    return {};
}

Result<void> NatsPublisher::flush() {
    const natsStatus status = natsConnection_FlushTimeout(connection_->handle.get(), connection_->timeout_ms);
    if (status != NATS_OK) return connection_->failed(status);
    if (!last_error(connection_->handle.get()).empty()) return connection_->failed(status);
    return {};
}

}  // namespace dynaplan::bus
