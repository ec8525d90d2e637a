// An HTTP/1.1 server on the caller's loop: keep-alive, pipelined requests in their order, answers now or
// later.
//
// Everything it does for a client is bounded: connections, header, body, the time to send them, the time to
// take the answer, idleness, and requests per second over all clients. What cannot be served is answered with
// {"error": ...}: 400 malformed, 408 too slow, 413 body, 414 path, 429 rate (with Retry-After), 431 header,
// 500 a handler that threw or forgot to answer, 503 too many connections or stopping; 404, 405 and 401 are
// the handler's (net/router.hpp, net/access.hpp).
//
// The loop's thread only. The server may be destroyed at any time: it closes what is open, and Replies that
// are still out become harmless. Handlers may throw; nothing that a client sends makes the server throw.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "net/http_message.hpp"
#include "net/reply.hpp"
#include "net/request_reader.hpp"

namespace dynaplan::net {

struct HttpServerOptions {
    std::string host = "127.0.0.1";       // an address of this machine, "localhost", or empty for all
    std::uint16_t port = 0;               // 0: any free one
    std::string setting = "http.listen";  // the setting's name, for messages

    RequestLimits limits{};
    std::size_t connections_max = 256;
    double requests_per_second = 500;  // over all clients; 0: no bound
    double requests_burst = 200;

    std::chrono::milliseconds header_timeout{10'000};  // from a request's first byte to the end of its header
    std::chrono::milliseconds body_timeout{30'000};    // from there to the end of its body
    std::chrono::milliseconds idle_timeout{75'000};    // without a request
    std::chrono::milliseconds write_timeout{30'000};   // for the client to take one answer
    std::chrono::milliseconds linger_timeout{1'000};   // for the client to close after a last answer
};

struct HttpServerCounts {
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;  // over connections_max, answered 503
    std::uint64_t connections_open = 0;
    std::uint64_t requests = 0;                        // that were read whole
    std::uint64_t clients_gone = 0;                    // hung up while they waited
    std::uint64_t timeouts = 0;                        // of any kind but idleness
    std::uint64_t handlers_threw = 0;                  // each answered 500
    std::map<unsigned, std::uint64_t> by_status = {};  // answers that were begun
};

class HttpServer {
public:
    using Handler = std::function<void(HttpRequest, Reply)>;

    HttpServer(boost::asio::io_context& loop, HttpServerOptions options, Handler handler);
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer();

    // Listens from now on. Fails when the address cannot be used: not one of this machine, in use, not
    // permitted; the message names setting, address and remedy.
    Result<void> start();

    // The address in use, "127.0.0.1:9086"; after start().
    [[nodiscard]] std::string address() const;
    [[nodiscard]] std::uint16_t port() const;

    [[nodiscard]] const HttpServerCounts& counts() const;

    // Stops accepting, answers whoever waits with 503, lets begun answers end, and calls `stopped` on the
    // loop when the last connection is closed, at the latest (by force) after `bound`.
    void stop(std::chrono::milliseconds bound, std::function<void()> stopped);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::net
