// One connection of the HTTP client: connects when it is first used, carries one exchange after the other,
// and notices when the server closes it in between. Only http_client.cpp uses this; the time-outs are the
// client's.
//
// The loop's thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "net/response_reader.hpp"
#include "net/transport.hpp"

namespace dynaplan::net {

class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
public:
    struct Exchange {
        std::string request;  // its bytes
        bool head = false;    // the method is HEAD
        // All are set. All may close() the connection, after which no further one comes.
        std::function<void()> on_connected;  // at once on a connection that is open already
        std::function<void(const HttpResponse&)> on_head;
        std::function<void(std::string_view)> on_body;
        // Once. `untouched`: the connection had been used before, and broke before a byte of the answer came,
        // as when the server closed it while the request was on its way.
        std::function<void(Result<void> result, bool untouched)> on_end;
    };

    ClientConnection(boost::asio::io_context& loop, HostPort to, std::shared_ptr<TlsContext> tls)
        : to_{std::move(to)}, transport_{loop, std::move(tls)} {}

    // Only when is_free(). Callbacks may come before this returns, but never on_end.
    void start(Exchange exchange);
    [[nodiscard]] bool is_free() const { return !exchange_ && !closed_; }
    [[nodiscard]] bool is_closed() const { return closed_; }
    // The end, without a callback.
    void close();

    // After the connection has closed itself while it was free.
    std::function<void()> on_closed;

private:
    void send();
    void read();
    void on_read(Result<std::string_view> piece);
    void end(Result<void> result);

    HostPort to_;
    Transport transport_;
    std::shared_ptr<Exchange> exchange_;
    std::optional<ResponseReader> reader_;
    std::string in_;
    bool connected_ = false;
    bool writing_ = false;
    bool used_ = false;  // has carried an exchange to its end
    bool closed_by_server_ = false;
    bool closed_ = false;
};

}  // namespace dynaplan::net
