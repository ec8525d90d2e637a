// The way of an event of the event plane into the planner, the same for ZeroMQ and NATS: take the envelope
// out of what surrounds it, test that its topic is the wanted one, hand the payload to FpmIntake. Whatever is
// not used is counted by its cause, under the names of the event plane specification (5.1, 3).
//
// Messages are handled at once, on the loop: nothing queues here, so there is no backlog to bound by engine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bus/fpm_intake.hpp"
#include "core/role.hpp"
#include "port/bus_counts.hpp"
#include "wire/envelope.hpp"
#include "wire/zmq_frames.hpp"

namespace dynaplan::bus {

class EventIntake {
public:
    EventIntake(port::EventSink& sink, port::BusCounts& counts, const port::WorkerDirectory* directory,
                std::string topic)
        : counts_{counts}, fpm_{sink, counts, directory}, topic_{std::move(topic)} {}

    // The event that these frames hold, if it is one of the topic. The views point into the frames. A
    // disagreement between frames and envelope is counted, and the envelope believed.
    [[nodiscard]] const wire::EventMessage* read(wire::Frames);
    // What NATS brings: an envelope with nothing around it.
    [[nodiscard]] const wire::Envelope* read(std::string_view envelope);

    void take(std::optional<Role> role, const wire::Envelope& envelope);
    void refuse(std::string_view cause) { counts_.refuse(cause); }

private:
    port::BusCounts& counts_;
    FpmIntake fpm_;
    std::string topic_;
    wire::EventMessage message_;
};

}  // namespace dynaplan::bus
