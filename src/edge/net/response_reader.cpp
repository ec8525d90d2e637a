#include "net/response_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <limits>
#include <optional>
#include <utility>

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string text_of(beast::string_view view) { return {view.data(), view.size()}; }

// A body that is handed on piece by piece. The library's string body would reserve what a hostile
// Content-Length says.
struct PassedOnBody {
    using value_type = ResponseReader::OnBody;

    class reader {
    public:
        template <bool is_request, class Fields>
        reader(http::header<is_request, Fields>&, value_type& out) : out_{out} {}
        void init(const boost::optional<std::uint64_t>&, beast::error_code& error) { error = {}; }
        template <class Buffers>
        std::size_t put(const Buffers& buffers, beast::error_code& error) {
            error = {};
            std::size_t size = 0;
            for (auto at = asio::buffer_sequence_begin(buffers); at != asio::buffer_sequence_end(buffers);
                 ++at) {
                const asio::const_buffer piece{*at};
                if (out_) out_({static_cast<const char*>(piece.data()), piece.size()});
                size += piece.size();
            }
            return size;
        }
        void finish(beast::error_code& error) { error = {}; }

    private:
        value_type& out_;
    };
};

using Parser = http::response_parser<PassedOnBody>;

}  // namespace

struct ResponseReader::Impl {
    Impl(bool head, OnHead h, OnBody b) : to_head{head}, on_head{std::move(h)}, on_body{std::move(b)} {
        begin();
    }

    void begin() {
        parser.emplace();
        // Stop at the header's end, so that it can be told before the body.
        parser->eager(false);
        parser->skip(to_head);
        parser->header_limit(static_cast<std::uint32_t>(header_max));
        // Whoever takes the body bounds it. Boost 1.74 refuses every body when there is no limit at all.
        parser->body_limit(std::numeric_limits<std::uint64_t>::max());
        parser->get().body() = on_body;
    }

    State bad(std::string message) {
        error = std::move(message);
        return State::bad;
    }

    void tell_head() const {
        const auto& message = parser->get();
        HttpResponse head;
        head.status = message.result_int();
        const auto type = message.find(http::field::content_type);
        head.content_type = type == message.end() ? std::string{} : text_of(type->value());
        for (const auto& field : message)
            head.headers.push_back({text_of(field.name_string()), text_of(field.value())});
        if (on_head) on_head(head);
    }

    bool to_head;
    OnHead on_head;
    OnBody on_body;
    std::optional<Parser> parser;
    std::size_t header_bytes = 0;  // over all interim answers too
    std::size_t held = 0;          // bytes that the parser has seen and could not take
    std::string error;
};

ResponseReader::ResponseReader(bool to_head, OnHead on_head, OnBody on_body)
    : impl_{std::make_unique<Impl>(to_head, std::move(on_head), std::move(on_body))} {}
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;
ResponseReader::~ResponseReader() = default;

ResponseReader::State ResponseReader::put(std::string& bytes) {
    Impl& impl = *impl_;
    while (!bytes.empty()) {
        const bool had_header = impl.parser->is_header_done();
        // As in request_reader.cpp: Boost 1.74 asserts that the header of the last chunk has five bytes.
        constexpr std::size_t last_chunk_min = 5;
        if (had_header && impl.held > 0 && bytes.size() < last_chunk_min) return State::need_more;
        beast::error_code error;
        const std::size_t used = impl.parser->put(asio::buffer(bytes), error);
        bytes.erase(0, used);
        impl.held = error == http::error::need_more ? bytes.size() : 0;
        if (error && error != http::error::need_more)
            return impl.bad("the answer is not valid HTTP/1.1: " + error.message());
        if (!had_header) {
            // Counted over all calls and interim answers: line by line the parser would take a header without
            // end.
            impl.header_bytes += used;
            if (impl.header_bytes > header_max) return impl.bad("the answer's header is too large");
        }
        if (!had_header && impl.parser->is_header_done()) {
            const unsigned status = impl.parser->get().result_int();
            if (status == 101) return impl.bad("the answer asks for another protocol");
            if (status / 100 == 1) {
                impl.begin();
                continue;
            }
            impl.tell_head();
        }
        if (impl.parser->is_done()) return State::complete;
        if (error == http::error::need_more) {
            // Chunk headers and trailers, which the parser itself does not bound.
            if (bytes.size() > header_max) return impl.bad("the answer's chunk header is too large");
            return State::need_more;
        }
    }
    return State::need_more;
}

ResponseReader::State ResponseReader::put_eof() {
    Impl& impl = *impl_;
    if (!impl.parser->got_some()) return impl.bad("the server closed the connection before it answered");
    beast::error_code error;
    impl.parser->put_eof(error);
    if (error) return impl.bad("the server closed the connection in the middle of its answer");
    return State::complete;
}

bool ResponseReader::begun() const { return impl_->parser->got_some(); }

bool ResponseReader::keep_alive() const {
    return impl_->parser->is_header_done() && impl_->parser->keep_alive();
}

const std::string& ResponseReader::error() const { return impl_->error; }

std::string request_bytes(std::string_view method, std::string_view target, std::string_view host,
                          const Headers& headers, std::string_view body, std::string_view content_type) {
    const auto view = [](std::string_view text) { return beast::string_view{text.data(), text.size()}; };
    http::request<http::empty_body> head;
    head.version(11);
    head.method_string(view(method));
    head.target(view(target));
    head.set(http::field::host, view(host));
    for (const Header& header : headers) head.set(view(header.name), view(header.value));
    if (!body.empty() || method == "POST" || method == "PUT")
        head.set(http::field::content_length, std::to_string(body.size()));
    if (!body.empty() && !content_type.empty()) head.set(http::field::content_type, view(content_type));
    std::string bytes;
    http::request_serializer<http::empty_body> serializer{head};
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
    return bytes.append(body);
}

bool is_header_text(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte != 0x7f) || c == '\t';
    });
}

}  // namespace dynaplan::net
