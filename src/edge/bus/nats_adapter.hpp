// The event plane over NATS core (event plane specification 4): one connection, the exact subjects of both
// eras for each wanted endpoint, the envelope as the message.
//
// Connecting goes on for ever and never on this thread: bus/nats_link.hpp. What it meets is in BusCounts: a
// line that says what is wrong, an error for each failed attempt by cause (`connect`, `login`, `tls`,
// `connection_lost`, `subscription`, `server`). A subscription that the server refuses is asked for again
// every five seconds. Connected: the server is there and each endpoint has a subject that it lets us have;
// anything else is an outage, from the first failed attempt on.
//
// Dropped, and counted among the refused: `ring_full`, what the loop was too slow to take from a
// subscription's ring (the newest goes; a ring for one producer cannot drop its oldest), and
// `client_overrun`, what the library's own bounded queue dropped.
//
// The loop's thread. Messages are handled at once, at most a batch of each subject between other work.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "bus/event_intake.hpp"
#include "bus/nats_options.hpp"
#include "bus/wanted_endpoint.hpp"
#include "core/result.hpp"
#include "port/bus_counts.hpp"
#include "port/event_sink.hpp"
#include "port/workers.hpp"

namespace dynaplan::bus {

class NatsLink;
struct NatsReport;

struct NatsPlane {
    NatsOptions connection{};
    std::vector<WantedEndpoint> endpoints{};
    std::string topic{wire::fpm_topic};
    std::size_t ring_bytes = std::size_t{8} << 20U;  // of each subject: some 15,000 reports
};

class NatsAdapter {
public:
    // An error is one of the options, or of names from which no subject of either era can be built. Connects
    // in the background.
    static Result<std::unique_ptr<NatsAdapter>> open(boost::asio::io_context&, const NatsPlane&,
                                                     port::EventSink&, port::BusCounts&,
                                                     const port::WorkerDirectory* directory = nullptr);
    ~NatsAdapter();
    NatsAdapter(const NatsAdapter&) = delete;
    NatsAdapter& operator=(const NatsAdapter&) = delete;

    [[nodiscard]] const std::vector<std::string>& subjects() const { return subjects_; }
    // Why a subject of one era could not be built; the other era's is subscribed to.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    NatsAdapter(boost::asio::io_context& io, const NatsPlane&, port::EventSink&, port::BusCounts&,
                const port::WorkerDirectory*);
    Result<void> add_subjects(const NatsPlane&);
    void start(const NatsPlane&);
    void wait();
    void work();
    static void work_if_alive(const std::weak_ptr<NatsAdapter*>&);
    bool drain(std::size_t subject, const std::weak_ptr<NatsAdapter*>& alive);
    void take(const NatsReport&);
    [[nodiscard]] bool sees_all(const NatsReport&) const;

    boost::asio::io_context& io_;
    port::EventSink& sink_;
    port::BusCounts& counts_;
    EventIntake intake_;
    std::vector<std::string> subjects_;
    std::vector<std::optional<Role>> roles_;             // of the subjects
    std::vector<std::vector<std::size_t>> subjects_of_;  // by endpoint
    std::vector<std::string> warnings_;
    std::shared_ptr<NatsLink> link_;
    boost::asio::posix::stream_descriptor bell_;
    std::shared_ptr<NatsAdapter*> self_;  // held weakly by what waits in the loop
    std::string message_;
    bool linked_ = false;
    std::optional<bool> told_;
};

}  // namespace dynaplan::bus
