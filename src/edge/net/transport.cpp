#include "net/transport.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

bool is_pem(std::string_view text) { return text.find("-----BEGIN ") != std::string_view::npos; }

bool is_end(const error_code& error) {
    // A peer that closes without TLS's own farewell is common; HTTP's framing tells whether the answer was
    // whole.
    return error == asio::error::eof || error == ssl::error::stream_truncated;
}

}  // namespace

struct TlsContext {
    ssl::context context{ssl::context::tls_client};
    bool insecure = false;
};

Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsOptions& options) {
    const auto made = std::make_shared<TlsContext>();
    made->insecure = options.insecure;
    ssl::context& context = made->context;
    error_code error;
    const auto fail = [&](const std::string& what, const std::string& given) {
        const std::string shown = is_pem(given) ? "the text given" : given;
        return failure("TLS " + what + ": " + shown + " cannot be used: " + error.message());
    };
    context.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                            ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                        error);
    if (const std::string& authority = options.certificate_authority; authority.empty()) {
        context.set_default_verify_paths(error);
    } else if (is_pem(authority)) {
        context.add_certificate_authority(asio::buffer(authority), error);
    } else {
        context.load_verify_file(authority, error);
    }
    if (error) return fail("certificate authority", options.certificate_authority);
    if (options.client_certificate.empty() != options.client_key.empty())
        return failure("TLS: a client certificate and its key are given together");
    if (const std::string& certificate = options.client_certificate; is_pem(certificate)) {
        context.use_certificate_chain(asio::buffer(certificate), error);
    } else if (!certificate.empty()) {
        context.use_certificate_chain_file(certificate, error);
    }
    if (error) return fail("client certificate", options.client_certificate);
    if (const std::string& key = options.client_key; is_pem(key)) {
        context.use_private_key(asio::buffer(key), ssl::context::pem, error);
    } else if (!key.empty()) {
        context.use_private_key_file(key, ssl::context::pem, error);
    }
    if (error) return fail("client key", options.client_key);
    return made;
}

struct Transport::Impl : std::enable_shared_from_this<Impl> {
    using Done = std::function<void(Result<void>)>;
    using Tls = ssl::stream<tcp::socket&>;

    Impl(asio::io_context& loop, std::shared_ptr<TlsContext> t)
        : socket{loop}, resolver{loop}, tls_context{std::move(t)} {}

    void connect(const HostPort& address, Done done) {
        to = address;
        error_code error;
        const asio::ip::address literal = asio::ip::make_address(to.host, error);
        // A literal address needs no resolver, which has a thread of its own.
        if (!error) return connect_to({tcp::endpoint{literal, to.port}}, std::move(done));
        resolver.async_resolve(
            to.host, std::to_string(to.port), tcp::resolver::numeric_service,
            [self = shared_from_this(), done = std::move(done)](
                const error_code& failed, const tcp::resolver::results_type& found) mutable {
                if (self->closed) return;
                if (failed) return done(self->refused("cannot be resolved", failed));
                std::vector<tcp::endpoint> all;
                for (const auto& entry : found) all.push_back(entry.endpoint());
                self->connect_to(std::move(all), std::move(done));
            });
    }

    void connect_to(std::vector<tcp::endpoint> found, Done done) {
        endpoints = std::move(found);
        asio::async_connect(socket, endpoints,
                            [self = shared_from_this(), done = std::move(done)](
                                const error_code& failed, const tcp::endpoint&) mutable {
                                if (self->closed) return;
                                if (failed) return done(self->refused("cannot be reached", failed));
                                error_code ignored;
                                self->socket.set_option(tcp::no_delay{true}, ignored);
                                if (!self->tls_context) return done({});
                                self->handshake(std::move(done));
                            });
    }

    void handshake(Done done) {
        tls.emplace(socket, tls_context->context);
        error_code ignored;
        tls->set_verify_mode(tls_context->insecure ? ssl::verify_none : ssl::verify_peer, ignored);
        if (!tls_context->insecure) tls->set_verify_callback(ssl::host_name_verification{to.host}, ignored);
        // The name of the server is told in the hello; an address is not a name (RFC 6066, 3).
        asio::ip::make_address(to.host, ignored);
        if (ignored) ::SSL_set_tlsext_host_name(tls->native_handle(), to.host.c_str());
        tls->async_handshake(ssl::stream_base::client,
                             [self = shared_from_this(), done = std::move(done)](const error_code& failed) {
                                 if (self->closed) return;
                                 if (failed) return done(self->refused("TLS handshake failed", failed));
                                 done({});
                             });
    }

    [[nodiscard]] tl::unexpected<Error> refused(const std::string& what, const error_code& error) const {
        return failure(to.authority() + ": " + what + ": " + error.message());
    }

    template <class Handler>
    void read_some(Handler handler) {
        if (tls) return tls->async_read_some(asio::buffer(piece), std::move(handler));
        socket.async_read_some(asio::buffer(piece), std::move(handler));
    }

    template <class Handler>
    void write_all(Handler handler) {
        if (tls) return asio::async_write(*tls, asio::buffer(out), std::move(handler));
        asio::async_write(socket, asio::buffer(out), std::move(handler));
    }

    tcp::socket socket;
    tcp::resolver resolver;
    std::shared_ptr<TlsContext> tls_context;
    std::optional<Tls> tls;
    std::vector<tcp::endpoint> endpoints;  // being tried
    std::array<char, 16384> piece;
    std::string out;
    HostPort to;
    bool closed = false;
};

Transport::Transport(asio::io_context& loop, std::shared_ptr<TlsContext> tls)
    : impl_{std::make_shared<Impl>(loop, std::move(tls))} {}

Transport::~Transport() { close(); }

void Transport::connect(const HostPort& to, std::function<void(Result<void>)> done) {
    impl_->connect(to, std::move(done));
}

void Transport::write(std::string bytes, std::function<void(Result<void>)> done) {
    impl_->out = std::move(bytes);
    impl_->write_all([impl = impl_, done = std::move(done)](const error_code& error, std::size_t) {
        if (impl->closed) return;
        if (error) return done(impl->refused("cannot be written to", error));
        done({});
    });
}

void Transport::read(std::function<void(Result<std::string_view>)> done) {
    impl_->read_some([impl = impl_, done = std::move(done)](const error_code& error, std::size_t size) {
        if (impl->closed) return;
        if (error && is_end(error)) return done(std::string_view{});
        if (error) return done(impl->refused("the connection broke", error));
        done(std::string_view{impl->piece.data(), size});
    });
}

void Transport::close() {
    if (std::exchange(impl_->closed, true)) return;
    error_code ignored;
    impl_->resolver.cancel();
    impl_->socket.close(ignored);
}

}  // namespace dynaplan::net
