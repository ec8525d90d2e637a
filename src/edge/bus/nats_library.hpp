// The NATS C client's objects with owners, its settings from our options, its errors as texts. Only for the
// .cpp files of this folder.
#pragma once

#include <memory>
#include <string>

#include <nats/nats.h>

#include "bus/nats_options.hpp"
#include "core/result.hpp"

namespace dynaplan::bus {

struct NatsDestroy {
    void operator()(natsOptions* o) const { natsOptions_Destroy(o); }
    void operator()(natsConnection* c) const { natsConnection_Destroy(c); }
    void operator()(natsSubscription* s) const { natsSubscription_Destroy(s); }
};
using NatsConnectionPtr = std::unique_ptr<natsConnection, NatsDestroy>;
using NatsSubscriptionPtr = std::unique_ptr<natsSubscription, NatsDestroy>;

// What a status means, with the library's own words for it where this thread has just got some.
std::string text_of(natsStatus);
// The same for what a connection has met last; empty when nothing. The words are the connection's own, which
// its reading thread may be about to replace: they are left out while the connection is open.
std::string last_error(natsConnection*);

// For one attempt: the library does not reconnect by itself. It gives up for good when a login has been
// refused twice, and says nothing of the attempts in between.
class NatsSettings {
public:
    static Result<NatsSettings> make(const NatsOptions&);
    [[nodiscard]] natsOptions* get() const { return settings_.get(); }

private:
    std::unique_ptr<natsOptions, NatsDestroy> settings_;
    std::unique_ptr<std::string> seed_;  // the signing callback's
};

}  // namespace dynaplan::bus
