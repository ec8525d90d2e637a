// Damaged messages in random pieces, from a fixed seed: whatever comes, the readers end in one of their three
// states and keep their promises. What a sanitizer or an assertion of the library says to it is the test.
#include <doctest/doctest.h>

#include <random>

#include "net/request_reader.hpp"
#include "net/response_reader.hpp"

using namespace dynaplan::net;

namespace {

constexpr int rounds = 20'000;

class Damage {
public:
    std::string of(std::string text) {
        const std::size_t times = below(4);
        for (std::size_t i = 0; i < times; ++i) {
            const std::size_t at = below(text.size());
            switch (below(5)) {
                case 0: text[at] = static_cast<char>(below(256)); break;
                case 1: text.erase(at, 1 + below(4)); break;
                case 2: text.insert(at, 1 + below(3), pieces_[below(pieces_.size())]); break;
                case 3: text.insert(at, text.substr(below(text.size()), below(20))); break;
                default: text[at] = pieces_[below(pieces_.size())]; break;
            }
            if (text.empty()) text = "x";
        }
        return text;
    }
    std::size_t below(std::size_t bound) { return bound == 0 ? 0 : source_() % bound; }

private:
    std::mt19937_64 source_{20260401};
    const std::string pieces_ = "\r\n 0:;,1aF\t%/?";
};

// Feeds it in pieces of 1 to 8 bytes.
template <class Put>
void feed(Damage& damage, const std::string& text, Put put) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = 1 + damage.below(8);
        bytes += text.substr(at, size);
        at += size;
        if (!put(bytes)) return;
    }
}

}  // namespace

TEST_CASE("damage: requests") {
    const std::vector<std::string> seeds{
        "GET /v1/decisions/next?after=-1&wait=30s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n",
        "POST /v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\nhello world",
        "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n \r\n0\r\nA: "
        "b\r\n\r\n",
        "PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"};
    Damage damage;
    int complete = 0;
    int bad = 0;
    for (int round = 0; round < rounds; ++round) {
        RequestReader reader{{400, 200, 64}};
        feed(damage, damage.of(seeds[damage.below(seeds.size())]), [&](std::string& bytes) {
            const RequestReader::State state = reader.put(bytes);
            if (reader.wants_continue()) CHECK(reader.header_done());
            if (state == RequestReader::State::complete) {
                ++complete;
                const HttpRequest request = reader.take();
                CHECK((request.path.starts_with('/') || request.path == "*"));
                CHECK(request.body.size() <= 64);
            } else if (state == RequestReader::State::bad) {
                ++bad;
                CHECK(reader.refusal().status / 100 == 4);
            }
            return state == RequestReader::State::need_more;
        });
    }
    CHECK(complete > rounds / 10);
    CHECK(bad > rounds / 10);
}

TEST_CASE("damage: answers") {
    const std::vector<std::string> seeds{
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nContent-Type: a/b\r\n\r\nhello world",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n \r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nto the end"};
    Damage damage;
    int complete = 0;
    int bad = 0;
    for (int round = 0; round < rounds; ++round) {
        int heads = 0;
        std::size_t body = 0;
        ResponseReader reader{false, [&](const HttpResponse&) { ++heads; },
                              [&](std::string_view piece) {
                                  CHECK(heads == 1);
                                  body += piece.size();
                              }};
        const std::string text = damage.of(seeds[damage.below(seeds.size())]);
        ResponseReader::State state = ResponseReader::State::need_more;
        feed(damage, text, [&](std::string& bytes) {
            state = reader.put(bytes);
            return state == ResponseReader::State::need_more;
        });
        if (state == ResponseReader::State::need_more) state = reader.put_eof();
        CHECK(state != ResponseReader::State::need_more);
        CHECK(body <= text.size());
        (state == ResponseReader::State::complete ? complete : bad) += 1;
    }
    CHECK(complete > rounds / 10);
    CHECK(bad > rounds / 10);
}
