#include "app/publish_outlet.hpp"

#include <map>
#include <random>
#include <utility>

#include <zmq.hpp>

#include "bus/event_publisher.hpp"
#include "bus/nats_publisher.hpp"
#include "bus/zmq_publisher.hpp"
#include "wire/broker_url.hpp"
#include "wire/nats_subject.hpp"

namespace dynaplan::app {

namespace {

// As August's publishers choose theirs: random, below 2^53.
std::uint64_t publisher_id() {
    std::random_device device;
    constexpr std::uint64_t below = std::uint64_t{1} << 53U;
    return ((std::uint64_t{device()} << 32U) | device()) % below;
}

class HopOutlet final : public Outlet {
public:
    Result<void> open(const std::string& bind) {
        auto publisher = bus::ZmqPublisher::bind(context_, bind, false);
        if (!publisher) return tl::unexpected{publisher.error()};
        publisher_ = std::move(*publisher);
        return {};
    }
    [[nodiscard]] std::string where() const override { return publisher_->endpoint(); }
    [[nodiscard]] int readers() override { return publisher_->subscribers(); }
    Result<bool> send(std::string_view, std::string_view payload, std::int64_t) override {
        return publisher_->send(payload);
    }

private:
    zmq::context_t context_{1};
    std::unique_ptr<bus::ZmqPublisher> publisher_;
};

// One publisher for all components where readers connect to it, one for each where a broker has to tell them
// apart by the routing key.
class EventOutlet final : public Outlet {
public:
    explicit EventOutlet(const OutletRequest& request) : request_{request} {}

    Result<void> open() {
        if (!request_.broker.empty()) {
            auto urls = wire::parse_broker_url(request_.broker);
            if (!urls) return failure("--broker: " + urls.error().message);
            xsub_ = std::move(urls->xsub);
            return {};
        }
        auto publisher = bus::EventPublisher::bind(context_, request_.bind, options());
        if (!publisher) return tl::unexpected{publisher.error()};
        direct_ = std::move(*publisher);
        return {};
    }
    [[nodiscard]] std::string where() const override {
        return direct_ ? direct_->endpoint() : request_.broker;
    }
    [[nodiscard]] int readers() override { return direct_ ? direct_->subscribers() : 0; }
    [[nodiscard]] bool tells_readers() const override { return direct_ != nullptr; }
    Result<bool> send(std::string_view component, std::string_view payload,
                      std::int64_t published_at_ms) override {
        const auto at = static_cast<std::uint64_t>(published_at_ms);
        if (direct_) return direct_->send(payload, at);
        auto place = brokered_.find(component);
        if (place == brokered_.end()) {
            auto made = bus::EventPublisher::connect(context_, xsub_, brokered_options(component));
            if (!made) return tl::unexpected{made.error()};
            place = brokered_.emplace(std::string{component}, std::move(*made)).first;
        }
        return place->second->send(payload, at);
    }

private:
    static bus::EventPublisherOptions options() {
        bus::EventPublisherOptions options;
        options.publisher_id = publisher_id();
        options.drops = false;
        return options;
    }
    [[nodiscard]] bus::EventPublisherOptions brokered_options(std::string_view component) const {
        bus::EventPublisherOptions with_key = options();
        with_key.routing_key = wire::zmq_routing_key(
            wire::ZmqMode::broker, request_.era,
            {request_.name_space, std::string{component}, request_.endpoint}, with_key.topic);
        return with_key;
    }

    OutletRequest request_;
    zmq::context_t context_{1};
    std::vector<std::string> xsub_;
    std::unique_ptr<bus::EventPublisher> direct_;
    std::map<std::string, std::unique_ptr<bus::EventPublisher>, std::less<>> brokered_;
};

class NatsOutlet final : public Outlet {
public:
    explicit NatsOutlet(const OutletRequest& request) : request_{request} {}

    [[nodiscard]] std::string where() const override { return bus::shown(request_.nats.server); }
    [[nodiscard]] int readers() override { return 0; }
    [[nodiscard]] bool tells_readers() const override { return false; }
    Result<bool> send(std::string_view component, std::string_view payload,
                      std::int64_t published_at_ms) override {
        auto publisher = publisher_of(component);
        if (!publisher) return tl::unexpected{publisher.error()};
        if (auto sent = (*publisher)->send(payload, static_cast<std::uint64_t>(published_at_ms)); !sent)
            return tl::unexpected{sent.error()};
        return true;
    }
    Result<void> finish() override {
        for (const auto& [component, publisher] : publishers_) {
            if (auto flushed = publisher->flush(); !flushed) return flushed;
        }
        return {};
    }
    // Of the component that any deployment has, so that a server that is not there is noticed at once.
    Result<void> open() {
        auto publisher = publisher_of("backend");
        if (!publisher) return tl::unexpected{publisher.error()};
        return {};
    }

private:
    Result<bus::NatsPublisher*> publisher_of(std::string_view component) {
        const auto place = publishers_.find(component);
        if (place != publishers_.end()) return place->second.get();
        auto subject = wire::subject(
            request_.era, {request_.name_space, std::string{component}, request_.endpoint}, wire::fpm_topic);
        if (!subject) return tl::unexpected{subject.error()};
        auto made = bus::NatsPublisher::connect(request_.nats, std::move(*subject), publisher_id());
        if (!made) return tl::unexpected{made.error()};
        return publishers_.emplace(std::string{component}, std::move(*made)).first->second.get();
    }

    OutletRequest request_;
    std::map<std::string, std::unique_ptr<bus::NatsPublisher>, std::less<>> publishers_;
};

template <class Kind>
Result<std::unique_ptr<Outlet>> opened(std::unique_ptr<Kind> outlet, Result<void> result) {
    if (!result) return tl::unexpected{result.error()};
    return std::unique_ptr<Outlet>{std::move(outlet)};
}

}  // namespace

Result<std::unique_ptr<Outlet>> open_outlet(const OutletRequest& request) {
    if (request.bus == "nats") {
        auto outlet = std::make_unique<NatsOutlet>(request);
        auto result = outlet->open();
        return opened(std::move(outlet), std::move(result));
    }
    if (request.plane == "event") {
        auto outlet = std::make_unique<EventOutlet>(request);
        auto result = outlet->open();
        return opened(std::move(outlet), std::move(result));
    }
    auto outlet = std::make_unique<HopOutlet>();
    auto result = outlet->open(request.bind);
    return opened(std::move(outlet), std::move(result));
}

}  // namespace dynaplan::app
