#include "bus/nats_link.hpp"

#include <algorithm>
#include <utility>

#include "bus/nats_session.hpp"

namespace dynaplan::bus {

namespace {

constexpr std::size_t reports_most = 64;
constexpr auto refused_again_after = std::chrono::seconds{5};
constexpr auto look_every = std::chrono::milliseconds{500};  // at what the library has dropped

std::string cause_of(natsStatus status) {
    switch (status) {
        case NATS_CONNECTION_AUTH_FAILED: return "login";
        case NATS_SSL_ERROR:
        case NATS_SECURE_CONNECTION_WANTED:
        case NATS_SECURE_CONNECTION_REQUIRED: return "tls";
        default: return "connect";
    }
}

}  // namespace

NatsLink::NatsLink(NatsOptions options, std::vector<std::string> subjects, std::size_t ring_bytes)
    : options_{std::move(options)}, subjects_{std::move(subjects)}, reports_{reports_most} {
    for (std::size_t i = 0; i < subjects_.size(); ++i)
        rings_.push_back(std::make_unique<MessageRing>(ring_bytes));
}

void NatsLink::start() {
    std::promise<void> end;
    ended_ = end.get_future();
    thread_ = std::thread{[self = shared_from_this(), end = std::move(end)]() mutable {
        self->run();
        nats_ReleaseThreadMemory();
        self.reset();
        end.set_value();
    }};
}

void NatsLink::stop(std::chrono::milliseconds patience) {
    if (!thread_.joinable()) return;
    stopping_ = true;
    wake_.release();
    if (ended_.wait_for(patience) == std::future_status::ready) {
        thread_.join();
    } else {
        thread_.detach();
    }
}

void NatsLink::run() {
    pause_ = options_.retry_first;
    while (!stopping_) {
        const NatsReport ended = attempt();
        if (stopping_) return;
        report(ended);
        const auto until = std::chrono::steady_clock::now() + pause_;
        pause_ = std::min(pause_ * 2, options_.retry_most);
        while (!stopping_ && std::chrono::steady_clock::now() < until) wake_.try_acquire_until(until);
    }
}

NatsReport NatsLink::failed(const std::string& why, std::string cause) const {
    NatsReport report;
    report.trouble = "NATS server " + shown(options_.server) + ": " + why + "; trying again";
    report.error = std::move(cause);
    return report;
}

NatsReport NatsLink::state(NatsSession& session, std::string cause) const {
    NatsReport report{.linked = true,
                      .trouble = {},
                      .error = std::move(cause),
                      .refused = session.refused(),
                      .overrun = session.take_overrun()};
    if (!report.refused.empty()) {
        report.trouble = "NATS server " + shown(options_.server) + " refuses the subscription to " +
                         subjects_[report.refused.front()] + ": " + session.refusal() + "; trying again";
    }
    return report;
}

// Returns when there is no connection, with the reason.
NatsReport NatsLink::attempt() {
    auto settings = NatsSettings::make(options_);
    if (!settings) return failed(settings.error().message, "connect");
    std::vector<MessageRing*> rings;
    for (const auto& ring : rings_) rings.push_back(ring.get());
    NatsSession session{shared_from_this(), wake_, bell_, subjects_, std::move(rings)};
    const natsStatus connected = session.connect(*settings);
    if (connected != NATS_OK) return failed(text_of(connected), cause_of(connected));
    if (session.subscribe_missing()) watch(session);
    const std::string lost = session.lost();
    NatsReport last = failed(lost.empty() ? "no answer to a subscription" : lost, "connection_lost");
    last.overrun = session.take_overrun();
    return last;
}

// Until the connection is of no more use, or stop().
void NatsLink::watch(NatsSession& session) {
    pause_ = options_.retry_first;
    report(state(session, session.refused().empty() ? "" : "subscription"));
    auto again = std::chrono::steady_clock::now() + refused_again_after;
    while (!stopping_) {
        wake_.try_acquire_for(look_every);
        if (!session.lost().empty()) return;
        const auto before = session.refused();
        session.note_errors();
        bool news = session.refused() != before;
        if (!session.refused().empty() && std::chrono::steady_clock::now() >= again) {
            if (!session.subscribe_missing()) return;
            again = std::chrono::steady_clock::now() + refused_again_after;
            news = true;
        }
        if (const std::string complaint = session.take_complaint(); !complaint.empty()) {
            NatsReport said = state(session, "server");
            said.trouble = "NATS server " + shown(options_.server) + ": " + complaint;
            report(said);
        } else if (news || session.overrun() > 0) {
            report(state(session, news && !session.refused().empty() ? "subscription" : ""));
        }
    }
}

// A loop that does not take its reports is waited for, since none may be lost; the thread has nothing else to
// do.
void NatsLink::report(const NatsReport& report) {
    constexpr auto look_again = std::chrono::milliseconds{50};
    while (!reports_.push(report)) {
        if (stopping_) return;
        wake_.try_acquire_for(look_again);
    }
    bell_.ring();
}

}  // namespace dynaplan::bus
