#include "net/http_client.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "net/client_connection.hpp"
#include "net/line_splitter.hpp"

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

// Of a stream's answer that is not a stream: enough for a JSON error.
constexpr std::size_t refusal_max = std::size_t{64} << 10U;

bool may_repeat(const ClientRequest& request) {
    const std::string& method = request.method;
    return request.repeatable || method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

}  // namespace

// One request or stream, from the call to its end.
struct Call {
    Call(asio::io_context& loop, ClientRequest r, std::size_t line_max)
        : request{std::move(r)}, timer{loop}, lines{line_max} {}

    HttpClient::CallId id = 0;
    ClientRequest request;
    HttpClient::Done done;
    std::optional<HttpClient::Stream> stream;
    std::string authorization;
    asio::steady_timer timer;
    Clock::time_point deadline;
    std::string late;  // what to say when the timer fires
    std::shared_ptr<ClientConnection> connection;
    HttpResponse answer;
    LineSplitter lines;
    bool streaming = false;  // the answer's lines are handed on
    bool repeated = false;
};

class HttpClient::Pool : public std::enable_shared_from_this<Pool> {
public:
    Pool(asio::io_context& loop, HttpClientOptions options, Url base, std::shared_ptr<TlsContext> tls)
        : loop_{loop}, options_{std::move(options)}, base_{std::move(base)}, tls_{std::move(tls)} {}

    CallId submit(ClientRequest request, Done done, std::optional<Stream> stream) {
        const auto call = std::make_shared<Call>(loop_, std::move(request), options_.line_max);
        call->id = next_id_++;
        call->done = std::move(done);
        call->stream = std::move(stream);
        call->authorization = authorization;
        call->deadline = Clock::now() + call->request.timeout.value_or(options_.request_timeout);
        calls_.emplace(call->id, call);
        if (auto problem = problem_with(*call)) {
            fail_later(call, std::move(*problem));
        } else {
            arm(call, call->deadline, "no answer in time");
            queue_.push_back(call);
            pump_later();
        }
        return call->id;
    }

    void cancel(CallId id) {
        const auto found = calls_.find(id);
        if (found == calls_.end()) return;
        const auto call = found->second;
        retire(*call);
        drop_connection(*call);
        pump_later();
    }

    void shut_down() {
        auto calls = std::exchange(calls_, {});
        queue_.clear();
        for (const auto& [id, call] : calls) cancel_timer(*call);
        for (const auto& connection : std::exchange(shared_, {})) connection->close();
        for (const auto& connection : std::exchange(of_streams_, {})) connection->close();
    }

    [[nodiscard]] std::size_t connections() const { return shared_.size() + of_streams_.size(); }

    std::string authorization;

private:
    using CallPtr = std::shared_ptr<Call>;
    using Connections = std::vector<std::shared_ptr<ClientConnection>>;

    [[nodiscard]] std::optional<std::string> problem_with(const Call& call) const {
        const ClientRequest& request = call.request;
        const auto no_space = [](std::string_view text) {
            return is_header_text(text) && text.find_first_of(" \t") == std::string_view::npos;
        };
        if (request.method.empty() || !no_space(request.method)) return "the method is not valid";
        if (!request.target.starts_with('/') || !no_space(request.target))
            return "the target must begin with '/' and have no spaces";
        bool clean = is_header_text(call.authorization);
        for (const Headers& headers : {options_.headers, request.headers})
            for (const Header& header : headers)
                clean =
                    clean && !header.name.empty() && no_space(header.name) && is_header_text(header.value);
        if (!clean) return "a header has a line end or another control character";
        if (queue_.size() >= options_.queue_max)
            return "more than " + std::to_string(options_.queue_max) + " requests are waiting";
        if (call.stream && of_streams_.size() >= options_.streams_max)
            return "more than " + std::to_string(options_.streams_max) + " streams are open";
        return std::nullopt;
    }

    void fail_later(const CallPtr& call, std::string problem) {
        asio::post(loop_, [weak = weak_from_this(), call, problem = std::move(problem)] {
            if (const auto self = weak.lock()) self->fail(call, problem);
        });
    }

    void pump_later() {
        asio::post(loop_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->pump();
        });
    }

    // Streams begin at once; of the others the oldest that a connection is free for.
    void pump() {
        for (auto at = queue_.begin(); at != queue_.end();) {
            const CallPtr call = *at;
            const auto connection = call->stream ? open(of_streams_) : free_connection();
            if (!connection) {
                ++at;
                continue;
            }
            at = queue_.erase(at);
            start(call, connection);
        }
    }

    std::shared_ptr<ClientConnection> open(Connections& group) {
        const auto connection = std::make_shared<ClientConnection>(loop_, base_.at, tls_);
        connection->on_closed = [weak = weak_from_this()] {
            if (const auto self = weak.lock()) self->forget_closed();
        };
        group.push_back(connection);
        return connection;
    }

    std::shared_ptr<ClientConnection> free_connection() {
        for (const auto& connection : shared_)
            if (connection->is_free()) return connection;
        if (shared_.size() >= options_.connections_max) return nullptr;
        return open(shared_);
    }

    void forget_closed() {
        const auto is_closed = [](const std::shared_ptr<ClientConnection>& c) { return c->is_closed(); };
        std::erase_if(shared_, is_closed);
        std::erase_if(of_streams_, is_closed);
    }

    void start(const CallPtr& call, const std::shared_ptr<ClientConnection>& connection) {
        call->connection = connection;
        arm(call, std::min(call->deadline, Clock::now() + options_.connect_timeout),
            "cannot connect in time");
        const ClientRequest& request = call->request;
        Headers headers = options_.headers;
        headers.insert(headers.end(), request.headers.begin(), request.headers.end());
        if (!call->authorization.empty()) headers.push_back({"Authorization", call->authorization});
        ClientConnection::Exchange exchange;
        exchange.request = request_bytes(request.method, base_.path + request.target, host(), headers,
                                         request.body, request.content_type);
        exchange.head = request.method == "HEAD";
        const auto guarded = [weak = weak_from_this(), call](auto act) {
            return [weak, call, act](auto&&... arguments) {
                const auto self = weak.lock();
                if (self && self->calls_.contains(call->id)) act(*self, call, arguments...);
            };
        };
        exchange.on_connected =
            guarded([](Pool& self, const CallPtr& c) { self.arm(c, c->deadline, "no answer in time"); });
        exchange.on_head =
            guarded([](Pool& self, const CallPtr& c, const HttpResponse& head) { self.on_head(c, head); });
        exchange.on_body =
            guarded([](Pool& self, const CallPtr& c, std::string_view piece) { self.on_body(c, piece); });
        exchange.on_end = guarded([](Pool& self, const CallPtr& c, const Result<void>& result,
                                     bool untouched) { self.on_end(c, result, untouched); });
        connection->start(std::move(exchange));
    }

    [[nodiscard]] std::string host() const {
        const bool usual = base_.at.port == (base_.tls ? 443 : 80);
        const std::string authority = base_.at.authority();
        return usual ? authority.substr(0, authority.rfind(':')) : authority;
    }

    void on_head(const CallPtr& call, const HttpResponse& head) {
        call->answer = head;
        if (!call->stream || head.status / 100 != 2) return;
        call->streaming = true;
        listen_on(call);
        if (const auto callback = call->stream->on_open) callback();
    }

    // A stream may last; only silence ends it, when that was asked for.
    void listen_on(const CallPtr& call) {
        const auto silence_max = call->stream->silence_max;
        if (silence_max.count() == 0) return cancel_timer(*call);
        arm(call, Clock::now() + silence_max, "the stream was silent for too long");
    }

    void on_body(const CallPtr& call, std::string_view piece) {
        if (call->streaming) {
            listen_on(call);
            const auto on_line = call->stream->on_line;
            const bool fits = call->lines.put(piece, [&](std::string_view line) {
                on_line(line);
                return calls_.contains(call->id);  // the callback may have cancelled
            });
            if (!fits) fail(call, "a line is longer than " + std::to_string(options_.line_max) + " bytes");
            return;
        }
        std::string& body = call->answer.body;
        if (call->stream) {
            body.append(piece.substr(0, refusal_max - std::min(refusal_max, body.size())));
        } else if (body.size() + piece.size() > options_.response_max) {
            fail(call, "the answer is larger than " + std::to_string(options_.response_max) + " bytes");
        } else {
            body.append(piece);
        }
    }

    void on_end(const CallPtr& call, const Result<void>& result, bool untouched) {
        if (!result && untouched && may_repeat(call->request) && !std::exchange(call->repeated, true)) {
            call->connection = nullptr;
            forget_closed();
            queue_.push_front(call);
            return pump_later();
        }
        if (!result) return fail(call, result.error().message);
        if (call->streaming && !call->lines.rest().empty()) {
            const std::string last = call->lines.rest();
            call->stream->on_line(last);
            if (!calls_.contains(call->id)) return;
        }
        finish(call, std::move(call->answer));
    }

    void fail(const CallPtr& call, const std::string& what) {
        if (!calls_.contains(call->id)) return;
        finish(call, failure(call->request.method + " " + base_.text() + call->request.target + ": " + what));
    }

    void finish(const CallPtr& call, Result<HttpResponse> result) {
        retire(*call);
        // A connection that ended its exchange in order is free again and stays; of a stream it is not
        // needed.
        if (!result || call->stream) drop_connection(*call);
        call->connection = nullptr;
        forget_closed();
        pump_later();
        const Done done = std::move(call->done);
        done(std::move(result));
    }

    void retire(Call& call) {
        cancel_timer(call);
        calls_.erase(call.id);
        std::erase_if(queue_, [&](const CallPtr& queued) { return queued.get() == &call; });
    }

    void drop_connection(Call& call) {
        if (const auto connection = std::exchange(call.connection, nullptr)) connection->close();
        forget_closed();
    }

    void arm(const CallPtr& call, Clock::time_point at, std::string_view late) {
        call->late = late;
        call->timer.expires_at(at);
        call->timer.async_wait([weak = weak_from_this(), call](const error_code& error) {
            const auto self = weak.lock();
            // A timer that was moved on after it had fired is not late.
            if (self && !error && call->timer.expiry() <= Clock::now()) self->fail(call, call->late);
        });
    }

    static void cancel_timer(Call& call) { call.timer.expires_at(Clock::time_point::max()); }

    asio::io_context& loop_;
    HttpClientOptions options_;
    Url base_;
    std::shared_ptr<TlsContext> tls_;
    CallId next_id_ = 1;
    std::map<CallId, CallPtr> calls_;
    std::deque<CallPtr> queue_;
    Connections shared_;
    Connections of_streams_;
};

Result<HttpClient> HttpClient::create(asio::io_context& loop, HttpClientOptions options) {
    const auto base = parse_url(options.base_url);
    if (!base) return tl::unexpected{base.error()};
    std::shared_ptr<TlsContext> tls;
    if (base->tls) {
        const auto made = make_tls_context(options.tls);
        if (!made) return tl::unexpected{made.error()};
        tls = *made;
    }
    return HttpClient{std::make_shared<Pool>(loop, std::move(options), *base, std::move(tls))};
}

HttpClient::HttpClient(std::shared_ptr<Pool> pool) : pool_{std::move(pool)} {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&& other) noexcept {
    if (pool_ && pool_ != other.pool_) pool_->shut_down();
    pool_ = std::move(other.pool_);
    return *this;
}
HttpClient::~HttpClient() {
    if (pool_) pool_->shut_down();
}

HttpClient::CallId HttpClient::request(ClientRequest request, Done done) {
    return pool_->submit(std::move(request), std::move(done), std::nullopt);
}

HttpClient::CallId HttpClient::stream(ClientRequest request, Stream stream) {
    Done done = std::move(stream.on_end);
    return pool_->submit(std::move(request), std::move(done), std::move(stream));
}

void HttpClient::cancel(CallId id) { pool_->cancel(id); }

void HttpClient::set_bearer(std::string_view token) {
    pool_->authorization = token.empty() ? std::string{} : "Bearer " + std::string{token};
}

void HttpClient::set_authorization(std::string value) { pool_->authorization = std::move(value); }

std::size_t HttpClient::connections() const { return pool_->connections(); }

}  // namespace dynaplan::net
