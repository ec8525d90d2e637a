// What the tests of sockets share: driving the loop until something is so (with a deadline, never a sleep), a
// client that sends any bytes, and a server that answers with any bytes.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dynaplan::net::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// False when it did not come true within ten seconds, far longer than anything here takes.
inline bool run_until(asio::io_context& loop, const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        loop.restart();
        loop.run_one_for(std::chrono::milliseconds{20});
    }
    return true;
}

// Handles what is ready, without waiting.
inline void run_ready(asio::io_context& loop) {
    loop.restart();
    while (loop.poll() > 0) loop.restart();
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
        ++count;
    return count;
}

// One side of a connection: sends what it is told, collects what it gets.
class RawPeer : public std::enable_shared_from_this<RawPeer> {
public:
    explicit RawPeer(tcp::socket socket) : socket_{std::move(socket)} {}

    static std::shared_ptr<RawPeer> connect(asio::io_context& loop, std::uint16_t port) {
        tcp::socket socket{loop};
        socket.connect({asio::ip::address_v4::loopback(), port});
        auto peer = std::make_shared<RawPeer>(std::move(socket));
        peer->read();
        return peer;
    }

    // Bytes that cannot be sent (the other side has closed) are lost, as they would be for any program.
    void send(std::string bytes) {
        const auto kept = std::make_shared<std::string>(std::move(bytes));
        asio::async_write(socket_, asio::buffer(*kept),
                          [kept, self = shared_from_this()](error_code, std::size_t) {});
    }

    void read() {
        socket_.async_read_some(asio::buffer(piece_),
                                [self = shared_from_this()](error_code error, std::size_t size) {
                                    if (error) {
                                        self->ended = true;
                                        return;
                                    }
                                    self->received.append(self->piece_.data(), size);
                                    if (self->on_received) self->on_received(*self);
                                    self->read();
                                });
    }

    void close_sending() {
        error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
    }

    void hang_up() {
        error_code ignored;
        socket_.close(ignored);
    }

    // The other side gets a reset instead of an end.
    void reset() {
        error_code ignored;
        socket_.set_option(asio::socket_base::linger{true, 0}, ignored);
        socket_.close(ignored);
    }

    tcp::socket& socket() { return socket_; }

    std::string received;
    bool ended = false;
    std::function<void(RawPeer&)> on_received;

private:
    tcp::socket socket_;
    std::array<char, 65536> piece_{};
};

// Accepts on a free port of the loopback; what it says to whom is the test's business.
class RawServer {
public:
    RawServer(asio::io_context& loop, std::function<void(RawPeer&)> on_received)
        : acceptor_{loop, {asio::ip::address_v4::loopback(), 0}}, on_received_{std::move(on_received)} {
        accept();
    }

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }

    std::vector<std::shared_ptr<RawPeer>> peers;

private:
    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            if (error) return;
            peers.push_back(std::make_shared<RawPeer>(std::move(socket)));
            peers.back()->on_received = on_received_;
            peers.back()->read();
            accept();
        });
    }

    tcp::acceptor acceptor_;
    std::function<void(RawPeer&)> on_received_;
};

}  // namespace dynaplan::net::testing
