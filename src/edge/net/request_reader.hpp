// Bytes of a connection to HTTP/1.1 requests, and answers to bytes: the server's half of the protocol without
// a socket, so that hostile bytes can be tried without one.
//
// One RequestReader reads one request. What follows it in the bytes (a pipelined request) stays there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "net/http_message.hpp"

namespace dynaplan::net {

struct RequestLimits {
    std::size_t header_max = std::size_t{16} << 10U;  // request line and header fields, bytes
    std::size_t target_max = std::size_t{8} << 10U;   // path and query, bytes
    std::uint64_t body_max = std::uint64_t{1} << 20U;
};

class RequestReader {
public:
    enum class State { need_more, complete, bad };

    explicit RequestReader(RequestLimits limits);
    RequestReader(RequestReader&&) noexcept;
    RequestReader& operator=(RequestReader&&) noexcept;
    ~RequestReader();

    // Takes from the front of `bytes` what belongs to the request. Not called again after complete or bad.
    State put(std::string& bytes);

    [[nodiscard]] bool begun() const;        // a byte of the request has been seen
    [[nodiscard]] bool header_done() const;  // and all of its header
    // True once, when the client waits for "100 Continue" before it sends the body.
    [[nodiscard]] bool wants_continue();

    // After complete. The peer is left empty.
    [[nodiscard]] HttpRequest take();
    [[nodiscard]] bool keep_alive() const;

    // After bad: what to answer before the connection is closed.
    [[nodiscard]] const HttpResponse& refusal() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The answer's bytes. `head_only`: the request was HEAD; the length is told, the body left out. Characters
// that would end a header line become spaces.
std::string response_bytes(const HttpResponse& response, bool keep_alive, bool head_only);

}  // namespace dynaplan::net
