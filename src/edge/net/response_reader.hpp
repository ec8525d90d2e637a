// Bytes of a connection to HTTP/1.1 answers, and requests to bytes: the client's half of the protocol without
// a socket. One ResponseReader reads one answer; interim answers (100 Continue) are passed over. The body
// goes out piece by piece as it comes, so an answer without an end (a watch) needs no memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_message.hpp"

namespace dynaplan::net {

class ResponseReader {
public:
    enum class State { need_more, complete, bad };
    using OnHead = std::function<void(const HttpResponse&)>;  // everything but the body
    using OnBody = std::function<void(std::string_view)>;

    static constexpr std::size_t header_max = std::size_t{32} << 10U;

    // `to_head`: the answer to a HEAD request, which has no body whatever its header says.
    // The callbacks come from within put(), the head before the body.
    ResponseReader(bool to_head, OnHead on_head, OnBody on_body);
    ResponseReader(ResponseReader&&) noexcept;
    ResponseReader& operator=(ResponseReader&&) noexcept;
    ~ResponseReader();

    // Takes from the front of `bytes` what belongs to the answer. Not called again after complete or bad.
    State put(std::string& bytes);
    // The server has closed: complete for an answer that lasts until then, else bad.
    State put_eof();

    [[nodiscard]] bool begun() const;
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] const std::string& error() const;  // after bad

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// The request's bytes. Method, target and headers must hold nothing that would end their line: check with
// is_header_text.
std::string request_bytes(std::string_view method, std::string_view target, std::string_view host,
                          const Headers& headers, std::string_view body, std::string_view content_type);

// Printable, without line ends and other control characters.
[[nodiscard]] bool is_header_text(std::string_view text);

}  // namespace dynaplan::net
