// What a request and an answer are, for the server, the client, and the handlers between: plain values,
// without a word of the library that reads and writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/url.hpp"

namespace dynaplan::net {

struct Header {
    std::string name;
    std::string value;
};
using Headers = std::vector<Header>;

// The first one of this name, in any case; null when there is none.
const std::string* find_header(const Headers& headers, std::string_view name);

struct HttpRequest {
    std::string method;  // as sent: "GET", "POST", ...
    std::string path;    // as sent, still percent-encoded, begins with '/'; the router decodes segments
    std::vector<QueryItem> query;  // decoded, in the order in which it was sent
    Headers headers;
    std::string body;
    std::string peer;                   // the client's address and port
    std::optional<std::string> bearer;  // the token of "Authorization: Bearer ..."

    // The first value of this name; null when the query does not have it.
    [[nodiscard]] const std::string* query_value(std::string_view name) const;
};

struct HttpResponse {
    unsigned status = 200;
    std::string content_type = "application/json";
    std::string body;
    Headers headers{};  // beside Content-Type, Content-Length and Connection
};

// {"error": message}, the form of every refusal.
HttpResponse error_response(unsigned status, std::string_view message);

}  // namespace dynaplan::net
