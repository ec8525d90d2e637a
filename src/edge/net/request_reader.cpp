#include "net/request_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>

#include "core/assert.hpp"

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string text_of(beast::string_view view) { return {view.data(), view.size()}; }

bool equals_nocase(beast::string_view a, beast::string_view b) { return beast::iequals(a, b); }

}  // namespace

struct RequestReader::Impl {
    explicit Impl(RequestLimits l) : limits{l} {
        parser.eager(true);
        parser.header_limit(static_cast<std::uint32_t>(limits.header_max));
        parser.body_limit(limits.body_max);
    }

    State refuse(unsigned status, std::string_view message) {
        refusal = error_response(status, message);
        return State::bad;
    }

    State refuse(const beast::error_code& error, const std::string& bytes) {
        if (error == http::error::header_limit) return too_long(bytes);
        if (error == http::error::body_limit || error == http::error::buffer_overflow)
            return refuse(413, "the body is larger than " + std::to_string(limits.body_max) + " bytes");
        return refuse(400, "not a valid HTTP/1.1 request: " + error.message());
    }

    State too_long(const std::string& bytes) {
        // While the request line is not complete, the parser has consumed nothing.
        if (!line_seen && bytes.find('\n') == std::string::npos)
            return refuse(414,
                          "the request line is longer than " + std::to_string(limits.target_max) + " bytes");
        return refuse(431, "the header is larger than " + std::to_string(limits.header_max) + " bytes");
    }

    // What the parser lets pass and RFC 7230 forbids (3.3.3, 5.3, 5.4).
    State check_header() {
        const auto& message = parser.get();
        if (message.version() >= 11 && message.count(http::field::host) != 1)
            return refuse(400, "the header needs one Host field");
        if (message.find(http::field::transfer_encoding) != message.end() && !parser.chunked())
            return refuse(400, "the only transfer encoding that is understood is chunked");
        const auto expect = message.find(http::field::expect);
        if (expect != message.end() && !equals_nocase(expect->value(), "100-continue"))
            return refuse(400, "the only expectation that is understood is 100-continue");
        std::string target = text_of(message.target());
        if (target.size() > limits.target_max)
            return refuse(
                414, "the path and query are longer than " + std::to_string(limits.target_max) + " bytes");
        // A proxy's form, http://host/path.
        if (const std::size_t scheme = target.find("://");
            scheme != std::string::npos && target.front() != '/') {
            const std::size_t slash = target.find_first_of("/?", scheme + 3);
            target = slash == std::string::npos ? "/" : target.substr(slash);
            if (target.front() == '?') target.insert(0, "/");
        }
        if (target.front() != '/' && target != "*") return refuse(400, "the path must begin with '/'");
        const std::size_t mark = std::min(target.find('?'), target.size());
        request.path = target.substr(0, mark);
        const std::string rest = mark < target.size() ? target.substr(mark + 1) : std::string{};
        auto query = parse_query(std::string_view{rest}.substr(0, rest.find('#')));
        if (!query) return refuse(400, "the query has a broken percent escape");
        request.query = std::move(*query);
        return State::need_more;
    }

    RequestLimits limits;
    http::request_parser<http::string_body> parser;
    HttpRequest request;
    HttpResponse refusal;
    std::size_t header_bytes = 0;
    std::size_t held = 0;  // bytes that the parser has seen and could not take
    bool line_seen = false;
    bool header_checked = false;
    bool continue_told = false;
};

RequestReader::RequestReader(RequestLimits limits) : impl_{std::make_unique<Impl>(limits)} {}
RequestReader::RequestReader(RequestReader&&) noexcept = default;
RequestReader& RequestReader::operator=(RequestReader&&) noexcept = default;
RequestReader::~RequestReader() = default;

RequestReader::State RequestReader::put(std::string& bytes) {
    Impl& impl = *impl_;
    if (!impl.parser.got_some()) {
        // RFC 7230 3.5: empty lines before a request are to be ignored.
        bytes.erase(0, std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
        if (bytes.empty()) return State::need_more;
    }
    // Boost 1.74 asserts that five bytes are there when it looks again at the header of the last chunk, whose
    // shortest form they are ("0", two line ends): a client that sends it byte by byte would end the process.
    constexpr std::size_t last_chunk_min = 5;
    if (impl.header_checked && impl.held > 0 && bytes.size() < last_chunk_min) return State::need_more;
    beast::error_code error;
    const std::size_t used = impl.parser.put(asio::buffer(bytes), error);
    bytes.erase(0, used);
    impl.held = error == http::error::need_more ? bytes.size() : 0;
    if (!impl.parser.is_header_done()) impl.header_bytes += used;
    impl.line_seen = impl.line_seen || used > 0;
    if (error && error != http::error::need_more) return impl.refuse(error, bytes);
    if (impl.parser.is_header_done() && !impl.header_checked) {
        impl.header_checked = true;
        if (impl.check_header() == State::bad) return State::bad;
    }
    if (impl.parser.is_done()) return State::complete;
    // The parser bounds what it sees at once: header lines that come one by one would never end.
    if (impl.header_bytes > impl.limits.header_max) return impl.too_long(bytes);
    // Chunk headers, extensions and trailers count like header lines: the parser itself has no bound for
    // them.
    if (bytes.size() > impl.limits.header_max) return impl.too_long(bytes);
    if (!impl.line_seen && bytes.size() > impl.limits.target_max + 64 &&
        bytes.find('\n') == std::string::npos)
        return impl.too_long(bytes);
    return State::need_more;
}

bool RequestReader::begun() const { return impl_->parser.got_some(); }

bool RequestReader::header_done() const { return impl_->parser.is_header_done(); }

bool RequestReader::wants_continue() {
    if (!header_done() || impl_->parser.is_done() || impl_->continue_told) return false;
    impl_->continue_told = true;
    const auto& message = impl_->parser.get();
    return message.version() >= 11 && message.find(http::field::expect) != message.end();
}

HttpRequest RequestReader::take() {
    DYNAPLAN_ASSERT(impl_->parser.is_done());
    auto& message = impl_->parser.get();
    HttpRequest request = std::move(impl_->request);
    request.method = text_of(message.method_string());
    for (const auto& field : message)
        request.headers.push_back({text_of(field.name_string()), text_of(field.value())});
    request.body = std::move(message.body());
    if (const std::string* authorization = find_header(request.headers, "Authorization")) {
        constexpr std::size_t scheme = 7;
        if (authorization->size() > scheme && equals_nocase({authorization->data(), scheme}, "Bearer ")) {
            const std::size_t token = authorization->find_first_not_of(' ', scheme);
            if (token != std::string::npos) request.bearer = authorization->substr(token);
        }
    }
    return request;
}

bool RequestReader::keep_alive() const {
    return impl_->parser.is_header_done() && impl_->parser.keep_alive();
}

const HttpResponse& RequestReader::refusal() const { return impl_->refusal; }

std::string response_bytes(const HttpResponse& response, bool keep_alive, bool head_only) {
    const auto one_line = [](std::string text) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
        return text;
    };
    http::response<http::empty_body> head{http::status::ok, 11};
    head.result(response.status);
    const bool bodiless = response.status == 204 || response.status == 304;
    if (!bodiless) {
        if (!response.content_type.empty())
            head.set(http::field::content_type, one_line(response.content_type));
        head.set(http::field::content_length, std::to_string(response.body.size()));
    }
    for (const Header& header : response.headers) head.insert(one_line(header.name), one_line(header.value));
    // Said in both cases: a client of HTTP/1.0 asks for it, one of 1.1 may ignore it.
    head.set(http::field::connection, keep_alive ? "keep-alive" : "close");
    std::string bytes;
    http::response_serializer<http::empty_body> serializer{head};
    beast::error_code error;
    while (!serializer.is_done() && !error) {
        std::size_t size = 0;
        serializer.next(error, [&](beast::error_code&, const auto& buffers) {
            for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers);
                 ++at) {
                const asio::const_buffer piece{*at};
                bytes.append(static_cast<const char*>(piece.data()), piece.size());
                size += piece.size();
            }
        });
        serializer.consume(size);
    }
    if (!bodiless && !head_only) bytes += response.body;
    return bytes;
}

}  // namespace dynaplan::net
