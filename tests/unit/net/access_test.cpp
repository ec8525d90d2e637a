#include "net/access.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace dynaplan::net;

namespace {

class TokenFile {
public:
    TokenFile() {
        std::string pattern = (std::filesystem::temp_directory_path() / "dynaplan_token_XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        folder_ = pattern;
    }
    TokenFile(const TokenFile&) = delete;
    TokenFile& operator=(const TokenFile&) = delete;
    ~TokenFile() { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path() const { return folder_ / "token"; }
    void write(const std::string& text) const { std::ofstream{path(), std::ios::binary} << text; }
    void remove() const { std::filesystem::remove(path()); }

private:
    std::filesystem::path folder_;
};

HttpRequest call(std::string method, std::optional<std::string> bearer = {}) {
    HttpRequest request;
    request.method = std::move(method);
    request.path = "/v1/inventory";
    request.bearer = std::move(bearer);
    return request;
}

}  // namespace

TEST_CASE("access: loopback without a token file lets everything pass") {
    for (const char* host : {"127.0.0.1", "::1", "localhost"}) {
        const auto access = Access::create(host, "", true);
        REQUIRE(access);
        CHECK_FALSE(access->token_needed());
        CHECK_FALSE(access->refusal(call("PUT")));
    }
}

TEST_CASE(
    "access: another address without a token is refused at start, unless nothing can be changed there") {
    for (const char* host : {"", "0.0.0.0", "::", "10.1.2.3"}) {
        const auto access = Access::create(host, "", true);
        REQUIRE(!access);
        CHECK(access.error().message.find("token_file") != std::string::npos);
        CHECK(Access::create(host, "", false));
    }
}

TEST_CASE("access: with a token file calls that change something need the token, on loopback too") {
    const TokenFile file;
    file.write("  s3cret\n");
    for (const char* host : {"127.0.0.1", "0.0.0.0"}) {
        const auto access = Access::create(host, file.path(), true);
        REQUIRE(access);
        for (const char* method : {"GET", "HEAD", "OPTIONS"}) CHECK_FALSE(access->refusal(call(method)));
        for (const char* method : {"PUT", "POST", "DELETE", "PATCH", "get", "ANYTHING"}) {
            CAPTURE(method);
            CHECK_FALSE(access->refusal(call(method, "s3cret")));
            for (const auto& wrong :
                 {std::optional<std::string>{}, std::optional<std::string>{""},
                  std::optional<std::string>{"s3cre"}, std::optional<std::string>{"s3cret "},
                  std::optional<std::string>{"S3CRET"}}) {
                const auto refusal = access->refusal(call(method, wrong));
                REQUIRE(refusal);
                CHECK(refusal->status == 401);
                CHECK(find_header(refusal->headers, "WWW-Authenticate") != nullptr);
                CHECK(refusal->body.find("s3cret") == std::string::npos);
            }
        }
    }
}

TEST_CASE("access: a token that is replaced counts at once, of the same length and in the same instant too") {
    const TokenFile file;
    file.write("aaaa");
    const auto access = Access::create("127.0.0.1", file.path(), true);
    REQUIRE(access);
    CHECK_FALSE(access->refusal(call("POST", "aaaa")));
    file.write("bbbb");
    CHECK(access->refusal(call("POST", "aaaa")));
    CHECK_FALSE(access->refusal(call("POST", "bbbb")));
}

TEST_CASE("access: a file that has gone or is empty admits nobody until it is back") {
    const TokenFile file;
    file.write("aaaa");
    const auto access = Access::create("127.0.0.1", file.path(), true);
    REQUIRE(access);
    file.remove();
    CHECK(access->refusal(call("POST", "aaaa")));
    file.write(" \n");
    CHECK(access->refusal(call("POST", "aaaa")));
    CHECK(access->refusal(call("POST", "")));
    file.write("aaaa");
    CHECK_FALSE(access->refusal(call("POST", "aaaa")));
}

TEST_CASE("access: a token file that cannot be used stops the start with its path") {
    const TokenFile file;
    const auto fails = [&](const std::string& path) {
        const auto access = Access::create("127.0.0.1", path, true);
        REQUIRE(!access);
        CHECK(access.error().message.find(path) != std::string::npos);
    };
    fails(file.path());  // missing
    for (const std::string& text :
         {std::string{}, std::string{" \n"}, std::string{"two words"}, std::string{"two\nlines"},
          std::string(5000, 'x'), std::string("a\0b", 3), std::string{"\xc3\xa9"}}) {
        file.write(text);
        fails(file.path());
    }
    fails(std::filesystem::path{file.path()}.parent_path().string());  // a folder
}
