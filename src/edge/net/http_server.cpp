#include "net/http_server.hpp"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>
#include <vector>

#include "net/http_session.hpp"

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// After a failure to accept (no descriptor is left, say): time for connections to end.
constexpr std::chrono::milliseconds accept_pause{100};

std::string remedy_for(const error_code& error) {
    if (error == asio::error::address_in_use)
        return "stop the program that holds it, or choose another port (0: any free one)";
    if (error == asio::error::access_denied) return "ports below 1024 need a privilege: choose a higher one";
    return "give an address of this machine";
}

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
    Impl(asio::io_context& l, HttpServerOptions options, Handler handler)
        : loop{l},
          acceptor{l},
          pause{l},
          stop_timer{l},
          context{std::make_shared<HttpSessionContext>(std::move(options), std::move(handler))} {}

    void accept() {
        acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
            if (!self->acceptor.is_open()) return;
            if (error) return self->accept_later();
            self->take(std::move(socket));
            self->accept();
        });
    }

    void accept_later() {
        pause.expires_after(accept_pause);
        pause.async_wait([self = shared_from_this()](const error_code&) {
            if (self->acceptor.is_open()) self->accept();
        });
    }

    void take(tcp::socket socket) {
        if (context->sessions.size() >= context->options.connections_max) return refuse(std::move(socket));
        ++context->counts.connections_accepted;
        const auto session = std::make_shared<HttpSession>(std::move(socket), context);
        context->sessions.insert(session);
        session->start();
    }

    // Best effort, without waiting: a flood must not hold what it came to exhaust.
    void refuse(tcp::socket socket) {
        ++context->counts.connections_refused;
        ++context->counts.by_status[503];
        HttpResponse refusal = error_response(503, "too many connections");
        refusal.headers.push_back({"Retry-After", "1"});
        const std::string bytes = response_bytes(refusal, false, false);
        error_code ignored;
        socket.non_blocking(true, ignored);
        // What has come is taken out, since closing over unread bytes resets the connection under the answer.
        std::array<char, 4096> thrown_away;
        socket.read_some(asio::buffer(thrown_away), ignored);
        socket.write_some(asio::buffer(bytes), ignored);
        socket.shutdown(tcp::socket::shutdown_send, ignored);
        socket.close(ignored);
    }

    void close_acceptor() {
        error_code ignored;
        acceptor.close(ignored);
        pause.cancel(ignored);
    }

    void close_all() {
        // Closing takes a session out of the set.
        while (!context->sessions.empty()) (*context->sessions.begin())->close();
    }

    void finish() {
        error_code ignored;
        stop_timer.cancel(ignored);
        context->on_empty = nullptr;
        if (auto callback = std::exchange(stopped, nullptr)) asio::post(loop, std::move(callback));
    }

    asio::io_context& loop;
    tcp::acceptor acceptor;
    asio::steady_timer pause;
    asio::steady_timer stop_timer;
    std::shared_ptr<HttpSessionContext> context;
    std::function<void()> stopped;
    std::string address;
    std::uint16_t port = 0;
};

HttpServer::HttpServer(asio::io_context& loop, HttpServerOptions options, Handler handler)
    : impl_{std::make_shared<Impl>(loop, std::move(options), std::move(handler))} {}

HttpServer::~HttpServer() {
    impl_->close_acceptor();
    impl_->stopped = nullptr;
    impl_->context->on_empty = nullptr;
    impl_->close_all();
    error_code ignored;
    impl_->stop_timer.cancel(ignored);
}

Result<void> HttpServer::start() {
    const HttpServerOptions& options = impl_->context->options;
    const std::string wanted = HostPort{options.host, options.port}.authority();
    const auto fail = [&](const std::string& why, const std::string& remedy) {
        impl_->close_acceptor();
        return failure(options.setting + " " + wanted + ": " + why + "; " + remedy);
    };
    error_code error;
    asio::ip::address address = asio::ip::address_v6::any();
    if (options.host == "localhost") {
        address = asio::ip::address_v4::loopback();
    } else if (!options.host.empty()) {
        address = asio::ip::make_address(options.host, error);
        if (error) return fail("is not an IP address", "give one of this machine's, or localhost");
    }
    tcp::endpoint endpoint{address, options.port};
    tcp::acceptor& acceptor = impl_->acceptor;
    acceptor.open(endpoint.protocol(), error);
    if (error == asio::error::address_family_not_supported && options.host.empty()) {
        endpoint = tcp::endpoint{asio::ip::address_v4::any(), options.port};
        acceptor.open(endpoint.protocol(), error);
    }
    // Only past connections of this port are forgiven by it, never a program that listens.
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address{true}, error);
    if (!error && options.host.empty() && endpoint.protocol() == tcp::v6())
        acceptor.set_option(asio::ip::v6_only{false}, error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    tcp::endpoint local;
    if (!error) local = acceptor.local_endpoint(error);
    if (error) return fail("cannot listen: " + error.message(), remedy_for(error));
    impl_->port = local.port();
    impl_->address = HostPort{local.address().to_string(), local.port()}.authority();
    impl_->accept();
    return {};
}

std::string HttpServer::address() const { return impl_->address; }

std::uint16_t HttpServer::port() const { return impl_->port; }

const HttpServerCounts& HttpServer::counts() const {
    impl_->context->counts.connections_open = impl_->context->sessions.size();
    return impl_->context->counts;
}

void HttpServer::stop(std::chrono::milliseconds bound, std::function<void()> stopped) {
    impl_->close_acceptor();
    impl_->context->stopping = true;
    impl_->stopped = std::move(stopped);
    const std::vector<std::shared_ptr<HttpSession>> sessions{impl_->context->sessions.begin(),
                                                             impl_->context->sessions.end()};
    for (const auto& session : sessions) session->stop();
    if (impl_->context->sessions.empty()) return impl_->finish();
    impl_->context->on_empty = [weak = std::weak_ptr{impl_}] {
        if (const auto impl = weak.lock()) impl->finish();
    };
    impl_->stop_timer.expires_after(bound);
    impl_->stop_timer.async_wait([weak = std::weak_ptr{impl_}](const error_code& error) {
        if (const auto impl = weak.lock(); impl && !error) impl->close_all();
    });
}

}  // namespace dynaplan::net
