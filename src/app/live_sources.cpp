#include "app/live_sources.hpp"

#include <utility>

#include <zmq.hpp>

#include "app/serve_parts.hpp"
#include "bus/engine_hop.hpp"

namespace dynaplan::app {

namespace {

class Sources final : public LiveSources {
public:
    Result<void> open(boost::asio::io_context& io, const AppConfig& config, port::EventSink& sink,
                      port::BusCounts& counts) {
        auto hop = bus::EngineHop::open(io, zmq_, hop_endpoints(config), sink, counts);
        if (!hop) return tl::unexpected{hop.error()};
        hop_ = std::move(*hop);
        return {};
    }
    [[nodiscard]] std::string bus() const override { return "zmq engine"; }

private:
    zmq::context_t zmq_{1};
    std::unique_ptr<bus::EngineHop> hop_;
};

}  // namespace

Result<std::unique_ptr<LiveSources>> LiveSources::open(boost::asio::io_context& io, const AppConfig& config,
                                                       port::EventSink& sink, port::BusCounts& counts) {
    auto sources = std::make_unique<Sources>();
    if (auto opened = sources->open(io, config, sink, counts); !opened) return tl::unexpected{opened.error()};
    return std::unique_ptr<LiveSources>{std::move(sources)};
}

}  // namespace dynaplan::app
