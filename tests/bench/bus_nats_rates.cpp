// NATS: the client's own receive loop, on its thread, against the way to the model.
#include <thread>

#include <nats/nats.h>
#include <boost/asio/io_context.hpp>

#include "bench/bus_rates.hpp"
#include "bus/nats_adapter.hpp"
#include "core/assert.hpp"
#include "wire/envelope.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::bench {

namespace {

constexpr std::int64_t warm_up = 1'000;
// More than any batch on the way, less than any queue on it holds: NATS itself never holds a publisher back.
constexpr std::int64_t under_way_most = 8'000;

const PerRole<wire::EventScope> scopes{{"dynamo", "prefill", "generate"}, {"dynamo", "backend", "generate"}};

std::string subject_of(Role role) {
    return wire::unchecked_subject(wire::Era::april, scopes[role], wire::fpm_topic);
}

// A thread that publishes, never further ahead of the arrivals than the bound.
class Source {
public:
    Source(const std::string& address, const std::vector<BusReport>& reports, const Arrivals& arrivals)
        : arrivals_{arrivals} {
        for (const BusReport& report : reports) {
            std::string bytes;
            wire::encode_envelope({77, messages_.size(), 1, wire::fpm_topic, report.payload}, bytes);
            messages_.emplace_back(report.role, std::move(bytes));
        }
        DYNAPLAN_ASSERT(natsConnection_ConnectTo(&connection_, address.c_str()) == NATS_OK);
    }
    ~Source() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
        natsConnection_Destroy(connection_);
    }
    void start() {
        thread_ = std::thread{[this] {
            const PerRole<std::string> subjects{subject_of(Role::prefill), subject_of(Role::decode)};
            std::int64_t sent = 0;
            for (std::size_t i = 0; !stopping_; i = (i + 1) % messages_.size()) {
                while (!stopping_ && sent - arrivals_.count() > under_way_most)
                    std::this_thread::sleep_for(std::chrono::microseconds{20});
                const auto& [role, bytes] = messages_[i];
                natsConnection_Publish(connection_, subjects[role].c_str(), bytes.data(),
                                       static_cast<int>(bytes.size()));
                ++sent;
            }
        }};
    }

private:
    const Arrivals& arrivals_;
    std::vector<std::pair<Role, std::string>> messages_;
    natsConnection* connection_ = nullptr;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

void wait_for(const Arrivals& arrivals) {
    while (!arrivals.done()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

}  // namespace

double nats_bare(const std::string& address, const std::vector<BusReport>& reports, std::int64_t messages) {
    Arrivals arrivals{warm_up, messages};
    natsOptions* options = nullptr;
    natsConnection* connection = nullptr;
    DYNAPLAN_ASSERT(natsOptions_Create(&options) == NATS_OK);
    DYNAPLAN_ASSERT(natsOptions_SetURL(options, address.c_str()) == NATS_OK);
    // Both subscriptions on one thread, so that one count does for them.
    DYNAPLAN_ASSERT(natsOptions_UseGlobalMessageDelivery(options, true) == NATS_OK);
    DYNAPLAN_ASSERT(natsConnection_Connect(&connection, options) == NATS_OK);
    PerRole<natsSubscription*> subscriptions{nullptr, nullptr};
    for (const Role role : all_roles) {
        const auto count = [](natsConnection*, natsSubscription*, natsMsg* message, void* to) {
            natsMsg_Destroy(message);
            static_cast<Arrivals*>(to)->one();
        };
        DYNAPLAN_ASSERT(natsConnection_Subscribe(&subscriptions[role], connection, subject_of(role).c_str(),
                                                 count, &arrivals) == NATS_OK);
    }
    DYNAPLAN_ASSERT(natsConnection_Flush(connection) == NATS_OK);
    {
        Source source{address, reports, arrivals};
        source.start();
        wait_for(arrivals);
    }
    // All that is under way has to be over before the count goes.
    natsConnection_Drain(connection);
    while (!natsConnection_IsClosed(connection)) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    for (const Role role : all_roles) natsSubscription_Destroy(subscriptions[role]);
    natsConnection_Destroy(connection);
    natsOptions_Destroy(options);
    return arrivals.per_second();
}

double nats_to_model(const std::string& address, const std::vector<BusReport>& reports,
                     std::int64_t messages) {
    boost::asio::io_context io{1};
    Arrivals arrivals{warm_up, messages};
    ModelSink sink{arrivals};
    port::BusCounts counts;
    bus::NatsPlane plane;
    plane.connection.server = address;
    for (const Role role : all_roles) plane.endpoints.push_back({scopes[role], role});
    auto adapter = bus::NatsAdapter::open(io, plane, sink, counts);
    DYNAPLAN_ASSERT(adapter.has_value());
    while (!counts.connected) io.run_one();
    Source source{address, reports, arrivals};
    source.start();
    while (!arrivals.done()) io.run_one();
    DYNAPLAN_ASSERT(counts.refused.empty() && sink.observed() > messages);
    return arrivals.per_second();
}

}  // namespace dynaplan::bench
