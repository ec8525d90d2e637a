// Which handler serves which method and path. A pattern is a path whose segments are literal or a {name}:
// "/v1/decisions/{id}/complete". A path that no row has is 404; one that has rows, none of the request's
// method, is 405 with Allow. HEAD is served by GET's row when it has none of its own: the server leaves the
// body out.
//
// Literal segments win over parameters; parameters are percent-decoded and never empty. The table is built
// once, at start; a pattern that cannot be used, or stands twice, is a mistake of ours and ends the process.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_message.hpp"
#include "net/reply.hpp"

namespace dynaplan::net {

class RouteParameters {
public:
    // The value of a name of the pattern; asking for another name is a mistake of ours.
    [[nodiscard]] const std::string& operator[](std::string_view name) const;

private:
    friend class Router;
    std::vector<QueryItem> items_;
};

class Router {
public:
    using Handler = std::function<void(HttpRequest, const RouteParameters&, Reply)>;

    void add(std::string method, std::string_view pattern, Handler handler);

    // Answers, now or later, or hands the request to its row.
    void route(HttpRequest request, Reply reply) const;

private:
    struct Segment {
        std::string text;
        bool parameter = false;
        bool operator==(const Segment&) const = default;
    };
    struct Row {
        std::string method;
        std::vector<Segment> segments;
        Handler handler;
    };
    static bool matches(const std::vector<Segment>& pattern, const std::vector<std::string>& segments,
                        RouteParameters& out);
    static bool more_literal(const Row& a, const Row& b);

    std::vector<Row> rows_;
};

}  // namespace dynaplan::net
