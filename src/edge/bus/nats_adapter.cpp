#include "bus/nats_adapter.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include "bus/nats_link.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::bus {

namespace {

constexpr int batch_most = 256;  // messages of a subject, then timers may run
// An attempt to connect takes two seconds at most, and a stop must end within five.
constexpr auto stop_patience = std::chrono::milliseconds{3000};

}  // namespace

NatsAdapter::NatsAdapter(boost::asio::io_context& io, const NatsPlane& plane, port::EventSink& sink,
                         port::BusCounts& counts, const port::WorkerDirectory* directory)
    : io_{io},
      sink_{sink},
      counts_{counts},
      intake_{sink, counts, directory, plane.topic},
      bell_{io},
      self_{std::make_shared<NatsAdapter*>(this)} {}

NatsAdapter::~NatsAdapter() {
    self_.reset();
    if (link_) link_->stop(stop_patience);
}

Result<std::unique_ptr<NatsAdapter>> NatsAdapter::open(boost::asio::io_context& io, const NatsPlane& plane,
                                                       port::EventSink& sink, port::BusCounts& counts,
                                                       const port::WorkerDirectory* directory) {
    if (const auto good = check(plane.connection); !good) return tl::unexpected{good.error()};
    if (plane.endpoints.empty()) return failure("NATS: no endpoint to listen to is given");
    std::unique_ptr<NatsAdapter> adapter{new NatsAdapter{io, plane, sink, counts, directory}};
    if (const auto added = adapter->add_subjects(plane); !added) return tl::unexpected{added.error()};
    adapter->start(plane);
    return adapter;
}

Result<void> NatsAdapter::add_subjects(const NatsPlane& plane) {
    std::string problems;
    for (const WantedEndpoint& wanted : plane.endpoints) {
        auto built = wire::dual_era_subjects(wanted.scope, plane.topic);
        std::vector<std::string> reasons;
        for (Error& refused : built.refused) reasons.push_back(std::move(refused.message));
        std::vector<std::size_t>& of_endpoint = subjects_of_.emplace_back();
        for (std::string& subject : built.subjects) {
            if (auto good = check_subject(subject); !good) {
                reasons.push_back(std::move(good.error().message));
                continue;
            }
            const auto place = std::find(subjects_.begin(), subjects_.end(), subject);
            const auto at = static_cast<std::size_t>(place - subjects_.begin());
            if (place == subjects_.end()) {
                subjects_.push_back(std::move(subject));
                roles_.push_back(wanted.role);
            } else if (roles_[at] != wanted.role) {
                roles_[at].reset();  // two roles on one subject: it does not tell which
            }
            of_endpoint.push_back(at);
        }
        for (std::string& reason : reasons) {
            if (of_endpoint.empty()) problems += (problems.empty() ? "" : "; ") + reason;
            warnings_.push_back(std::move(reason));
        }
    }
    if (!problems.empty()) return failure(problems);
    return {};
}

void NatsAdapter::start(const NatsPlane& plane) {
    link_ = std::make_shared<NatsLink>(plane.connection, subjects_, plane.ring_bytes);
    bell_.assign(link_->bell().descriptor());
    link_->start();
    wait();
}

void NatsAdapter::wait() {
    bell_.async_wait(
        boost::asio::posix::stream_descriptor::wait_read,
        [weak = std::weak_ptr{self_}](const boost::system::error_code&) { work_if_alive(weak); });
}

void NatsAdapter::work() {
    const std::weak_ptr<NatsAdapter*> alive{self_};
    link_->bell().heard();
    for (NatsReport report; link_->take(report);) {
        take(report);
        if (alive.expired()) return;
    }
    bool more = false;
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
        more = !drain(i, alive) || more;
        if (alive.expired()) return;
    }
    if (!more) return wait();
    boost::asio::post(io_, [alive] { work_if_alive(alive); });
}

// Holds nothing while it works: the adapter may end meanwhile, and must be seen to.
void NatsAdapter::work_if_alive(const std::weak_ptr<NatsAdapter*>& weak) {
    NatsAdapter* adapter = nullptr;
    if (const auto self = weak.lock()) adapter = *self;
    if (adapter != nullptr) adapter->work();
}

// True when the ring is empty. The sink may end the adapter at any message.
bool NatsAdapter::drain(std::size_t subject, const std::weak_ptr<NatsAdapter*>& alive) {
    MessageRing& ring = link_->ring(subject);
    if (const std::uint64_t dropped = ring.take_dropped(); dropped > 0) counts_.refuse("ring_full", dropped);
    for (int i = 0; i < batch_most; ++i) {
        if (!ring.pop(message_)) return true;
        const wire::Envelope* envelope = intake_.read(message_);
        if (envelope != nullptr) intake_.take(roles_[subject], *envelope);
        if (alive.expired()) return true;
    }
    return false;
}

bool NatsAdapter::sees_all(const NatsReport& report) const {
    const auto refused = [&](std::size_t subject) {
        return std::find(report.refused.begin(), report.refused.end(), subject) != report.refused.end();
    };
    return report.linked && std::none_of(subjects_of_.begin(), subjects_of_.end(), [&](const auto& subjects) {
               return std::all_of(subjects.begin(), subjects.end(), refused);
           });
}

// The event comes last: whoever takes it may end the adapter.
void NatsAdapter::take(const NatsReport& report) {
    if (report.linked && !linked_) ++counts_.links_up;
    if (!report.linked && linked_) ++counts_.links_down;
    linked_ = report.linked;
    if (!report.error.empty()) counts_.error(report.error);
    if (report.overrun > 0) counts_.refuse("client_overrun", report.overrun);
    counts_.connected = sees_all(report);
    counts_.trouble = report.trouble;
    if (told_ == counts_.connected) return;
    told_ = counts_.connected;
    Event event{TimePoint{}, BusChanged{*told_}};
    sink_.take(event);
}

}  // namespace dynaplan::bus
