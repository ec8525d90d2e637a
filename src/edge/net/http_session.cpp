#include "net/http_session.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Of requests that are sent ahead of their turn; more stays in the kernel's buffers, and the client's.
constexpr std::size_t ahead_max = std::size_t{64} << 10U;
// Of a request that was refused before its end, read and thrown away so that the client gets to see the
// answer: closing with unread bytes would reset the connection.
constexpr std::size_t discarded_max = std::size_t{4} << 20U;

}  // namespace

class HttpSession::Waiting : public ReplyTarget {
public:
    explicit Waiting(const std::shared_ptr<HttpSession>& session) : session_{session} {}

    void answer(HttpResponse response) override {
        gone_ = nullptr;
        const auto session = session_.lock();
        if (!session || session->waiting_.get() != this) return;
        // Keeps this object alive while it is still being used.
        const auto self = std::exchange(session->waiting_, nullptr);
        session->respond(response);
    }

    void on_gone(std::function<void()> callback) override { gone_ = std::move(callback); }
    [[nodiscard]] bool wants_to_know() const { return gone_ != nullptr; }
    void tell() {
        if (const auto callback = std::exchange(gone_, nullptr)) callback();
    }

private:
    std::weak_ptr<HttpSession> session_;
    std::function<void()> gone_;
};

HttpSession::HttpSession(asio::ip::tcp::socket socket, std::shared_ptr<HttpSessionContext> context)
    : socket_{std::move(socket)},
      timer_{socket_.get_executor()},
      context_{std::move(context)},
      reader_{context_->options.limits} {}

void HttpSession::start() {
    error_code ignored;
    // An answer is one write: waiting for more would only delay it.
    socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
    const auto remote = socket_.remote_endpoint(ignored);
    if (!ignored) peer_ = HostPort{remote.address().to_string(), remote.port()}.authority();
    arm(Deadline::idle);
    read();
}

void HttpSession::read() {
    if (reading_ || half_closed_ || phase_ == Phase::closed) return;
    if (phase_ != Phase::reading && phase_ != Phase::lingering && in_.size() >= ahead_max) return;
    reading_ = true;
    socket_.async_read_some(asio::buffer(chunk_),
                            [self = shared_from_this()](const error_code& error, std::size_t size) {
                                self->reading_ = false;
                                self->on_read(error, size);
                            });
}

void HttpSession::on_read(const error_code& error, std::size_t size) {
    if (phase_ == Phase::closed) return;
    if (error) return on_read_end(error);
    if (phase_ == Phase::lingering) {
        discarded_ += size;
        if (discarded_ > discarded_max) return close();
        return read();
    }
    in_.append(chunk_.data(), size);
    if (phase_ == Phase::reading) advance();
    read();
}

void HttpSession::on_read_end(const error_code& error) {
    half_closed_ = true;
    keep_alive_ = false;
    switch (phase_) {
        case Phase::waiting:
            // Without a callback the answer is still tried: a client may close its sending half after its
            // request.
            if (error != asio::error::eof || waiting_->wants_to_know()) client_gone();
            return;
        case Phase::writing:
            if (error != asio::error::eof) close();
            return;
        default: return close();
    }
}

void HttpSession::advance() {
    const bool was_begun = reader_.begun();
    const bool had_header = reader_.header_done();
    switch (reader_.put(in_)) {
        case RequestReader::State::complete: return dispatch();
        case RequestReader::State::bad: keep_alive_ = false; return respond(reader_.refusal());
        case RequestReader::State::need_more: break;
    }
    if (reader_.begun() && !was_begun) arm(Deadline::header);
    if (reader_.header_done() && !had_header) arm(Deadline::body);
    if (reader_.wants_continue()) send_continue();
}

void HttpSession::send_continue() {
    // Literal text outlives the write.
    static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
    continuing_ = true;
    asio::async_write(socket_, asio::buffer(text.data(), text.size()),
                      [self = shared_from_this()](const error_code& error, std::size_t) {
                          self->continuing_ = false;
                          if (error) return self->close();
                          if (auto next = std::exchange(self->next_, std::nullopt)) self->respond(*next);
                      });
}

void HttpSession::dispatch() {
    HttpServerCounts& counts = context_->counts;
    ++counts.requests;
    HttpRequest request = reader_.take();
    request.peer = peer_;
    keep_alive_ = reader_.keep_alive() && !half_closed_;
    head_only_ = request.method == "HEAD";
    if (context_->stopping) {
        keep_alive_ = false;
        return respond(error_response(503, "the server is stopping"));
    }
    if (!context_->bucket.take(std::chrono::steady_clock::now())) {
        HttpResponse refusal = error_response(429, "too many requests; try again in a second");
        refusal.headers.push_back({"Retry-After", "1"});
        return respond(refusal);
    }
    phase_ = Phase::waiting;
    arm(Deadline::none);
    waiting_ = std::make_shared<Waiting>(shared_from_this());
    try {
        // A handler that throws drops its Reply, which answers 500.
        context_->handler(std::move(request), Reply{waiting_});
    } catch (...) {
        ++counts.handlers_threw;
    }
}

void HttpSession::respond(const HttpResponse& response) {
    if (phase_ == Phase::closed) return;
    phase_ = Phase::writing;
    arm(Deadline::write);
    if (continuing_) {
        next_ = response;
        return;
    }
    ++context_->counts.by_status[response.status];
    keep_alive_ = keep_alive_ && !context_->stopping;
    out_ = response_bytes(response, keep_alive_, head_only_);
    asio::async_write(
        socket_, asio::buffer(out_),
        [self = shared_from_this()](const error_code& error, std::size_t) { self->on_written(error); });
}

void HttpSession::on_written(const error_code& error) {
    if (phase_ == Phase::closed) return;
    out_ = std::string{};
    if (error) return close();
    if (!keep_alive_) return linger();
    phase_ = Phase::reading;
    head_only_ = false;
    reader_ = RequestReader{context_->options.limits};
    arm(Deadline::idle);
    if (!in_.empty()) advance();
    read();
}

void HttpSession::linger() {
    if (half_closed_) return close();
    phase_ = Phase::lingering;
    in_ = std::string{};
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    arm(Deadline::linger);
    read();
}

void HttpSession::client_gone() {
    ++context_->counts.clients_gone;
    const auto waiting = std::exchange(waiting_, nullptr);
    close();
    waiting->tell();
}

void HttpSession::stop() {
    keep_alive_ = false;
    const HttpResponse refusal = error_response(503, "the server is stopping");
    if (phase_ == Phase::waiting) {
        const auto waiting = std::exchange(waiting_, nullptr);
        respond(refusal);
        waiting->tell();
    } else if (phase_ == Phase::reading && reader_.begun()) {
        respond(refusal);
    } else if (phase_ == Phase::reading) {
        close();
    }
}

void HttpSession::close() {
    if (phase_ == Phase::closed) return;
    phase_ = Phase::closed;
    waiting_ = nullptr;
    error_code ignored;
    timer_.cancel(ignored);
    socket_.close(ignored);
    const auto self = shared_from_this();
    context_->sessions.erase(self);
    // A copy: the callback takes itself out of the context.
    if (const auto on_empty = context_->on_empty; on_empty && context_->sessions.empty()) on_empty();
}

void HttpSession::arm(Deadline deadline) {
    deadline_ = deadline;
    const HttpServerOptions& options = context_->options;
    std::chrono::milliseconds wait{};
    switch (deadline) {
        case Deadline::none: {
            error_code ignored;
            timer_.cancel(ignored);
            return;
        }
        case Deadline::idle: wait = options.idle_timeout; break;
        case Deadline::header: wait = options.header_timeout; break;
        case Deadline::body: wait = options.body_timeout; break;
        case Deadline::write: wait = options.write_timeout; break;
        case Deadline::linger: wait = options.linger_timeout; break;
    }
    timer_.expires_after(wait);
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
        // A timer that was moved on after it had fired is not late: it was not cancelled in time.
        if (!error && self->timer_.expiry() <= std::chrono::steady_clock::now()) self->on_deadline();
    });
}

void HttpSession::on_deadline() {
    if (phase_ == Phase::closed) return;
    switch (deadline_) {
        case Deadline::none: return;
        case Deadline::idle:
        case Deadline::linger: return close();
        case Deadline::header:
        case Deadline::body:
            ++context_->counts.timeouts;
            keep_alive_ = false;
            return respond(error_response(408, "the request was not complete in time"));
        case Deadline::write: ++context_->counts.timeouts; return close();
    }
}

}  // namespace dynaplan::net
