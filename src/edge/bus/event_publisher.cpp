#include "bus/event_publisher.hpp"

#include <utility>

#include "wire/zmq_frames.hpp"

namespace dynaplan::bus {

namespace {

constexpr int high_water = 100'000;  // event plane specification 5.5

}  // namespace

Result<std::unique_ptr<EventPublisher>> EventPublisher::make(Result<ZmqOutlet> outlet,
                                                             EventPublisherOptions options) {
    if (!outlet) return tl::unexpected{outlet.error()};
    return std::unique_ptr<EventPublisher>{new EventPublisher{std::move(*outlet), std::move(options)}};
}

Result<std::unique_ptr<EventPublisher>> EventPublisher::bind(zmq::context_t& context, const std::string& url,
                                                             EventPublisherOptions options) {
    const OutletOptions how{.send_high_water = high_water, .drops = options.drops};
    return make(ZmqOutlet::bind(context, url, how), std::move(options));
}

Result<std::unique_ptr<EventPublisher>> EventPublisher::connect(zmq::context_t& context,
                                                                const std::vector<std::string>& xsub_urls,
                                                                EventPublisherOptions options) {
    const OutletOptions how{.send_high_water = high_water, .drops = options.drops};
    return make(ZmqOutlet::connect(context, xsub_urls, how), std::move(options));
}

bool EventPublisher::send(std::string_view payload, std::uint64_t published_at_ms) {
    const wire::Envelope envelope{options_.publisher_id, sequence_, published_at_ms, options_.topic, payload};
    wire::write_event(options_.routing_key, envelope, frames_);
    const std::array<std::string_view, 4> views{frames_[0], frames_[1], frames_[2], frames_[3]};
    if (!outlet_.send(views)) return false;
    ++sequence_;
    return true;
}

}  // namespace dynaplan::bus
