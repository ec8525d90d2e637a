// A byte stream to a server, with or without TLS: connect, write, read, close. Only the client's connections
// use this; Asio's large headers stay in transport.cpp.
//
// The loop's thread only. At most one connect, one write and one read at a time. After close(), or when the
// transport is destroyed, no callback comes any more.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "net/url.hpp"

namespace dynaplan::net {

struct TlsOptions {
    // Each a path, or the PEM text itself. Without a certificate authority the system's are trusted.
    std::string certificate_authority;
    std::string client_certificate;
    std::string client_key;
    bool insecure = false;  // the server's certificate is not looked at
};

// What all connections of one client share. Fails, with the setting at fault, when a certificate cannot be
// used.
struct TlsContext;
Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsOptions& options);

class Transport {
public:
    // `tls` null: plain TCP.
    Transport(boost::asio::io_context& loop, std::shared_ptr<TlsContext> tls);
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    ~Transport();

    void connect(const HostPort& to, std::function<void(Result<void>)> done);
    void write(std::string bytes, std::function<void(Result<void>)> done);
    // A piece, valid during the call; empty at the end of the stream.
    void read(std::function<void(Result<std::string_view>)> done);
    void close();

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dynaplan::net
