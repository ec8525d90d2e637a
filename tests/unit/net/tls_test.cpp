// The client against a TLS server with a certificate of the test's own making.
#include <doctest/doctest.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "net/http_client.hpp"
#include "net/identity.hpp"
#include "net/loopback.hpp"

using namespace dynaplan;
using namespace dynaplan::net;
using namespace dynaplan::net::testing;
namespace ssl = boost::asio::ssl;

namespace {

// Answers every request with "secure", in two pieces.
class TlsServer {
public:
    TlsServer(asio::io_context& loop, const Identity& identity)
        : acceptor_{loop, {asio::ip::address_v4::loopback(), 0}} {
        context_.use_certificate_chain(asio::buffer(identity.certificate));
        context_.use_private_key(asio::buffer(identity.key), ssl::context::pem);
        accept();
    }
    void require_client(const std::string& authority) {
        context_.add_certificate_authority(asio::buffer(authority));
        context_.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    [[nodiscard]] std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }
    int handshakes = 0;

private:
    struct Session : std::enable_shared_from_this<Session> {
        Session(tcp::socket socket, ssl::context& context) : stream{std::move(socket), context} {}
        void read() {
            stream.async_read_some(asio::buffer(piece),
                                   [self = shared_from_this()](error_code error, std::size_t) {
                                       if (error) return;
                                       asio::async_write(self->stream, asio::buffer(self->answer),
                                                         [self](error_code failed, std::size_t) {
                                                             if (!failed) self->read();
                                                         });
                                   });
        }
        ssl::stream<tcp::socket> stream;
        std::array<char, 4096> piece{};
        std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure";
    };

    void accept() {
        acceptor_.async_accept([this](error_code error, tcp::socket socket) {
            if (error) return;
            const auto session = std::make_shared<Session>(std::move(socket), context_);
            session->stream.async_handshake(ssl::stream_base::server, [this, session](error_code failed) {
                if (failed) return;
                ++handshakes;
                session->read();
            });
            accept();
        });
    }

    tcp::acceptor acceptor_;
    ssl::context context_{ssl::context::tls_server};
};

Result<HttpResponse> ask(asio::io_context& loop, const std::string& url, const TlsOptions& tls) {
    HttpClientOptions options;
    options.base_url = url;
    options.tls = tls;
    auto client = HttpClient::create(loop, options);
    REQUIRE(client);
    std::optional<Result<HttpResponse>> got;
    for (int i = 0; i < 2; ++i) {
        got.reset();
        client->request({}, [&](Result<HttpResponse> answer) { got = std::move(answer); });
        REQUIRE(run_until(loop, [&] { return got.has_value(); }));
    }
    return *got;
}

}  // namespace

TEST_CASE("TLS: a certificate of a known authority for this address is trusted, and the connection kept") {
    asio::io_context loop;
    const Identity identity = make_identity("IP:127.0.0.1");
    TlsServer server{loop, identity};
    const auto answer =
        ask(loop, "https://127.0.0.1:" + server.port(), {identity.certificate, "", "", false});
    REQUIRE(answer);
    CHECK(answer->body == "secure");
    CHECK(server.handshakes == 1);
}

TEST_CASE("TLS: an unknown authority and another's certificate are refused, unless nobody looks") {
    asio::io_context loop;
    const Identity elsewhere = make_identity("DNS:elsewhere.example");
    TlsServer server{loop, elsewhere};
    const std::string url = "https://127.0.0.1:" + server.port();
    for (const TlsOptions& tls : {TlsOptions{}, TlsOptions{elsewhere.certificate, "", "", false}}) {
        const auto refused = ask(loop, url, tls);
        REQUIRE(!refused);
        CHECK(refused.error().message.find("TLS handshake failed") != std::string::npos);
    }
    CHECK(ask(loop, url, {"", "", "", true}));
}

TEST_CASE("TLS: a client certificate is shown when one is given") {
    asio::io_context loop;
    const Identity identity = make_identity("DNS:localhost");
    const Identity mine = make_identity("DNS:me");
    TlsServer server{loop, identity};
    server.require_client(mine.certificate);
    const std::string url = "https://localhost:" + server.port();
    const auto answer = ask(loop, url, {identity.certificate, mine.certificate, mine.key, false});
    REQUIRE(answer);
    CHECK(answer->body == "secure");
    CHECK(!ask(loop, url, {identity.certificate, "", "", false}));
}
