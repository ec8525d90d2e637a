// One connection of the HTTP server: reads a request, hands it out, writes its answer, and begins again. Only
// http_server.cpp uses this.
//
// One read is always under way, also while an answer is awaited: so a client that hangs up is noticed, and
// what it pipelines is kept (up to a bound) until its turn.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "net/http_server.hpp"
#include "net/rate_limit.hpp"
#include "net/reply.hpp"
#include "net/request_reader.hpp"

namespace dynaplan::net {

class HttpSession;

// What the connections of one server share. It outlives the server as long as a connection's last operation
// does.
struct HttpSessionContext {
    explicit HttpSessionContext(HttpServerOptions o, HttpServer::Handler h)
        : options{std::move(o)},
          handler{std::move(h)},
          bucket{options.requests_per_second, options.requests_burst} {}

    HttpServerOptions options;
    HttpServer::Handler handler;
    HttpServerCounts counts;
    TokenBucket bucket;
    bool stopping = false;
    std::unordered_set<std::shared_ptr<HttpSession>> sessions;
    std::function<void()> on_empty;  // after the last session has closed
};

class HttpSession : public std::enable_shared_from_this<HttpSession> {
public:
    HttpSession(boost::asio::ip::tcp::socket socket, std::shared_ptr<HttpSessionContext> context);

    void start();
    // 503 to whoever waits or is sending a request, then the end; an idle connection is closed at once.
    void stop();
    // The end, now, without an answer. Nobody is told.
    void close();

private:
    enum class Phase { reading, waiting, writing, lingering, closed };
    enum class Deadline { none, idle, header, body, write, linger };
    class Waiting;  // the ReplyTarget of the request that was handed out

    void read();
    void on_read(const boost::system::error_code& error, std::size_t size);
    void on_read_end(const boost::system::error_code& error);
    void advance();
    void dispatch();
    void respond(const HttpResponse& response);
    void on_written(const boost::system::error_code& error);
    void linger();
    void client_gone();
    void send_continue();
    void arm(Deadline deadline);
    void on_deadline();

    boost::asio::ip::tcp::socket socket_;
    boost::asio::steady_timer timer_;
    std::shared_ptr<HttpSessionContext> context_;
    RequestReader reader_;
    std::shared_ptr<Waiting> waiting_;
    std::array<char, 16384> chunk_;
    std::string in_;   // read, not yet taken by a request
    std::string out_;  // being written
    std::string peer_;
    Phase phase_ = Phase::reading;
    Deadline deadline_ = Deadline::none;
    std::size_t discarded_ = 0;  // bytes read while lingering
    bool reading_ = false;       // a read is under way
    bool continuing_ = false;    // "100 Continue" is being written
    bool keep_alive_ = false;
    bool head_only_ = false;
    bool half_closed_ = false;          // the client has closed its sending half
    std::optional<HttpResponse> next_;  // an answer that waits for "100 Continue" to be written
};

}  // namespace dynaplan::net
