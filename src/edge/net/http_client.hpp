// An HTTP/1.1 client on the caller's loop, for one server: requests with one answer, and streams whose answer
// is a line at a time without an end (etcd's watch).
//
// Requests share keep-alive connections: one is reused, more are opened up to a bound, further requests queue
// up to a bound. Each stream has a connection of its own. Everything is bounded: time to connect, time to the
// whole answer (the queue included), the size of an answer and of a line. Any answer with a status is a
// success here; what a status means is the caller's to say (net/retry.hpp helps).
//
// A request that breaks on a connection that the server has just closed, before a byte of the answer, is sent
// once more when its method may be repeated (GET, HEAD, PUT, DELETE) or it says so itself.
//
// The loop's thread only. Callbacks come from the loop, never from within a call. After cancel(), or when the
// client is destroyed (a callback may do either), no callback comes any more.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "net/http_message.hpp"
#include "net/transport.hpp"

namespace dynaplan::net {

struct HttpClientOptions {
    std::string base_url;  // "https://host:port/prefix"; what a request's target is appended to
    TlsOptions tls{};      // for https
    Headers headers{};     // sent with each request
    std::chrono::milliseconds connect_timeout{5'000};
    std::chrono::milliseconds request_timeout{
        10'000};  // from the call to the end of the answer; of a stream: to its head
    std::size_t response_max = std::size_t{16} << 20U;  // bytes of a whole body
    std::size_t line_max = std::size_t{16} << 20U;      // bytes of a stream's line
    std::size_t connections_max = 4;
    std::size_t streams_max = 16;
    std::size_t queue_max = 1024;
};

struct ClientRequest {
    std::string method = "GET";
    std::string target = "/";  // path and query, percent-encoded
    std::string body{};
    std::string content_type = "application/json";
    Headers headers{};
    std::optional<std::chrono::milliseconds> timeout{};  // instead of request_timeout
    bool repeatable = false;                             // may reach the server twice, whatever the method
};

class HttpClient {
public:
    using CallId = std::uint64_t;
    using Done = std::function<void(Result<HttpResponse>)>;

    struct Stream {
        std::function<void()> on_open;                  // the head has come, with status 2xx; may be empty
        std::function<void(std::string_view)> on_line;  // without its line end
        // Once, at the end: the answer's head (with a beginning of the body when its status is not 2xx), or
        // what broke.
        Done on_end;
        std::chrono::milliseconds silence_max{0};  // time without a byte that ends the stream; 0: any
    };

    // Fails for a base URL or certificates that cannot be used. Nothing is connected yet.
    static Result<HttpClient> create(boost::asio::io_context& loop, HttpClientOptions options);
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;
    ~HttpClient();

    CallId request(ClientRequest request, Done done);
    CallId stream(ClientRequest request, Stream stream);
    // An id that is over is ignored.
    void cancel(CallId id);

    // The Authorization header of requests that are made from now on: "Bearer TOKEN", or the value as it is
    // (etcd's tokens have no scheme). Empty: none.
    void set_bearer(std::string_view token);
    void set_authorization(std::string value);

    // Open connections, those being opened included: for diagnostics and tests.
    [[nodiscard]] std::size_t connections() const;

private:
    class Pool;
    explicit HttpClient(std::shared_ptr<Pool> pool);

    std::shared_ptr<Pool> pool_;
};

}  // namespace dynaplan::net
