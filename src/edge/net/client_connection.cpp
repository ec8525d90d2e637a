#include "net/client_connection.hpp"

#include <utility>

#include "core/assert.hpp"

namespace dynaplan::net {

void ClientConnection::start(Exchange exchange) {
    DYNAPLAN_ASSERT(is_free());
    exchange_ = std::make_shared<Exchange>(std::move(exchange));
    in_.clear();
    // The exchange is held by what it calls: a callback may close the connection and so drop it.
    reader_.emplace(
        exchange_->head,
        [this](const HttpResponse& head) {
            if (const auto running = exchange_) running->on_head(head);
        },
        [this](std::string_view piece) {
            if (const auto running = exchange_) running->on_body(piece);
        });
    if (connected_) return send();
    transport_.connect(to_, [weak = weak_from_this()](const Result<void>& connected) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        if (!connected) return self->end(connected);
        self->connected_ = true;
        self->read();
        self->send();
    });
}

void ClientConnection::send() {
    if (const auto running = exchange_) running->on_connected();
    if (closed_) return;
    writing_ = true;
    transport_.write(std::move(exchange_->request), [weak = weak_from_this()](const Result<void>& written) {
        const auto self = weak.lock();
        if (!self || self->closed_) return;
        self->writing_ = false;
        // A failure shows in the read as well, and there an early answer of the server is not lost.
        if (!written && !self->exchange_) self->close();
    });
}

void ClientConnection::read() {
    transport_.read([weak = weak_from_this()](const Result<std::string_view>& piece) {
        if (const auto self = weak.lock(); self && !self->closed_) self->on_read(piece);
    });
}

void ClientConnection::on_read(Result<std::string_view> piece) {
    if (!exchange_) {
        // Closed by the server while free, or bytes that nobody asked for.
        close();
        if (const auto callback = on_closed) callback();
        return;
    }
    if (!piece) return end(tl::unexpected{piece.error()});
    if (piece->empty()) {
        const bool whole = reader_->put_eof() == ResponseReader::State::complete;
        closed_by_server_ = true;
        return end(whole ? Result<void>{} : failure(to_.authority() + ": " + reader_->error()));
    }
    in_.append(*piece);
    const ResponseReader::State state = reader_->put(in_);
    if (closed_) return;
    if (state == ResponseReader::State::bad) return end(failure(to_.authority() + ": " + reader_->error()));
    if (state == ResponseReader::State::complete) end({});
    if (!closed_) read();
}

void ClientConnection::end(Result<void> result) {
    const bool untouched = !result && used_ && reader_ && !reader_->begun();
    const auto ended = std::exchange(exchange_, nullptr);
    // An answer before the request was sent whole, bytes after it, or the server's wish: not to be used
    // again.
    const bool reusable =
        result && connected_ && !writing_ && in_.empty() && !closed_by_server_ && reader_->keep_alive();
    used_ = true;
    const auto keep_alive = shared_from_this();
    if (!reusable) close();
    ended->on_end(std::move(result), untouched);
}

void ClientConnection::close() {
    if (std::exchange(closed_, true)) return;
    exchange_ = nullptr;
    transport_.close();
}

}  // namespace dynaplan::net
