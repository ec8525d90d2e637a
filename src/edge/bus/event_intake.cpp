#include "bus/event_intake.hpp"

#include <chrono>

namespace dynaplan::bus {

const wire::EventMessage* EventIntake::read(wire::Frames frames) {
    ++counts_.received;
    if (const auto event = wire::read_event(frames, topic_, message_); !event) {
        counts_.refuse(wire::to_string(event.error()));
        return nullptr;
    }
    if (message_.identity_mismatch) ++counts_.identity_mismatch;
    return &message_;
}

const wire::Envelope* EventIntake::read(std::string_view envelope) {
    ++counts_.received;
    if (const auto read = wire::decode_envelope(envelope, message_.envelope); !read) {
        counts_.refuse("envelope_" + std::string{wire::to_string(read.error())});
        return nullptr;
    }
    if (message_.envelope.topic != topic_) {
        counts_.refuse(wire::to_string(wire::EventDrop::other_topic));
        return nullptr;
    }
    return &message_.envelope;
}

void EventIntake::take(std::optional<Role> role, const wire::Envelope& envelope) {
    constexpr double ms_per_second = 1000.0;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    counts_.lag(std::chrono::duration<double>{now}.count() -
                static_cast<double>(envelope.published_at) / ms_per_second);
    fpm_.take(role, envelope.payload);
}

}  // namespace dynaplan::bus
