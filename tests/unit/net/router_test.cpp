#include "net/router.hpp"

#include <doctest/doctest.h>

using namespace dynaplan::net;

namespace {

struct Seen : ReplyTarget {
    void answer(HttpResponse response) override { answers.push_back(std::move(response)); }
    void on_gone(std::function<void()>) override {}
    std::vector<HttpResponse> answers;
};

struct Table {
    Table() {
        const auto note = [this](std::string row, std::vector<std::string> names) {
            return [this, row, names](const HttpRequest&, const RouteParameters& parameters, Reply reply) {
                std::string text = row;
                for (const std::string& name : names) text += " " + name + "=" + parameters[name];
                reply.answer({200, "text/plain", text});
            };
        };
        router.add("GET", "/v1/decisions/{id}", note("show", {"id"}));
        router.add("GET", "/v1/decisions/next", note("next", {}));
        router.add("GET", "/v1/decisions", note("list", {}));
        router.add("POST", "/v1/decisions/{id}/complete", note("complete", {"id"}));
        router.add("PUT", "/v1/{a}/{b}", note("put", {"a", "b"}));
        router.add("GET", "/", note("root", {}));
    }
    HttpResponse ask(std::string method, std::string path) const {
        HttpRequest request;
        request.method = std::move(method);
        request.path = std::move(path);
        const auto seen = std::make_shared<Seen>();
        router.route(std::move(request), Reply{seen});
        REQUIRE(seen->answers.size() == 1);
        return seen->answers.front();
    }
    Router router;
};

}  // namespace

TEST_CASE("router: literal segments win over parameters, which are decoded") {
    const Table table;
    CHECK(table.ask("GET", "/v1/decisions/7").body == "show id=7");
    CHECK(table.ask("GET", "/v1/decisions/next").body == "next");
    CHECK(table.ask("GET", "/v1/decisions").body == "list");
    CHECK(table.ask("POST", "/v1/decisions/a%2Fb/complete").body == "complete id=a/b");
    CHECK(table.ask("PUT", "/v1/decisions/next").body == "put a=decisions b=next");
    CHECK(table.ask("GET", "/").body == "root");
}

TEST_CASE("router: HEAD is served by GET's row") {
    CHECK(Table{}.ask("HEAD", "/v1/decisions").body == "list");
}

TEST_CASE("router: an unknown path is 404, an empty parameter and a trailing slash too") {
    const Table table;
    for (const char* path : {"/v2", "/v1/decisions/", "/v1/decisions//complete", "/v1", "*", ""}) {
        CAPTURE(path);
        CHECK(table.ask("GET", path).status == 404);
    }
    CHECK(table.ask("GET", "/v1/decisions/%zz").status == 400);
    CHECK(table.ask("GET", "/\"<\xff").body.find("\\\"<") != std::string::npos);
}

TEST_CASE("router: a known path with another method is 405 with Allow") {
    const Table table;
    const HttpResponse answer = table.ask("DELETE", "/v1/decisions/7");
    CHECK(answer.status == 405);
    REQUIRE(find_header(answer.headers, "allow") != nullptr);
    CHECK(*find_header(answer.headers, "allow") == "GET, HEAD, PUT");
    CHECK(*find_header(table.ask("GET", "/v1/decisions/7/complete").headers, "Allow") == "POST");
}

TEST_CASE("reply: dropped without an answer it says 500, answered it says no more") {
    const auto seen = std::make_shared<Seen>();
    { const Reply dropped{seen}; }
    REQUIRE(seen->answers.size() == 1);
    CHECK(seen->answers[0].status == 500);
    {
        Reply first{seen};
        Reply second{std::move(first)};
        second.answer({204, "", ""});
        CHECK(second.answered());
    }
    CHECK(seen->answers.size() == 2);
    Reply kept{seen};
    kept = Reply{seen};  // the one that was overwritten was dropped
    CHECK(seen->answers.size() == 3);
    kept.answer({200, "", ""});
}
