#include "net/router.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/assert.hpp"

namespace dynaplan::net {

namespace {

std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> segments;
    path.remove_prefix(1);
    for (;;) {
        const std::size_t slash = path.find('/');
        segments.push_back(path.substr(0, slash));
        if (slash == std::string_view::npos) return segments;
        path.remove_prefix(slash + 1);
    }
}

std::optional<std::vector<std::string>> decoded_segments(std::string_view path) {
    std::vector<std::string> segments;
    if (!path.starts_with('/')) return segments;
    for (const std::string_view segment : split(path)) {
        auto decoded = percent_decoded(segment);
        if (!decoded) return std::nullopt;
        segments.push_back(std::move(*decoded));
    }
    return segments;
}

}  // namespace

const std::string& RouteParameters::operator[](std::string_view name) const {
    const auto found =
        std::find_if(items_.begin(), items_.end(), [&](const QueryItem& item) { return item.name == name; });
    DYNAPLAN_ASSERT(found != items_.end());
    return found->value;
}

bool Router::more_literal(const Row& a, const Row& b) {
    // Of two rows that match the same path the one whose first difference is a literal comes first.
    return std::lexicographical_compare(
        a.segments.begin(), a.segments.end(), b.segments.begin(), b.segments.end(),
        [](const Segment& x, const Segment& y) { return !x.parameter && y.parameter; });
}

void Router::add(std::string method, std::string_view pattern, Handler handler) {
    DYNAPLAN_ASSERT(pattern.starts_with('/'));
    Row row{std::move(method), {}, std::move(handler)};
    for (const std::string_view segment : split(pattern)) {
        const bool parameter = segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
        row.segments.push_back(
            {std::string{parameter ? segment.substr(1, segment.size() - 2) : segment}, parameter});
    }
    for (const Row& other : rows_)
        DYNAPLAN_ASSERT(other.method != row.method || other.segments != row.segments);
    rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), row, more_literal), std::move(row));
}

bool Router::matches(const std::vector<Segment>& pattern, const std::vector<std::string>& segments,
                     RouteParameters& out) {
    if (pattern.size() != segments.size()) return false;
    out.items_.clear();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (!pattern[i].parameter) {
            if (pattern[i].text != segments[i]) return false;
        } else {
            if (segments[i].empty()) return false;
            out.items_.push_back({pattern[i].text, segments[i]});
        }
    }
    return true;
}

void Router::route(HttpRequest request, Reply reply) const {
    const auto segments = decoded_segments(request.path);
    if (!segments) return reply.answer(error_response(400, "the path has a broken percent escape"));
    RouteParameters parameters;
    std::set<std::string> allowed;
    const Row* of_get = nullptr;
    RouteParameters parameters_of_get;
    for (const Row& row : rows_) {
        if (!matches(row.segments, *segments, parameters)) continue;
        if (row.method == request.method)
            return row.handler(std::move(request), parameters, std::move(reply));
        if (row.method == "GET" && of_get == nullptr) {
            of_get = &row;
            parameters_of_get = parameters;
            allowed.insert("HEAD");
        }
        allowed.insert(row.method);
    }
    if (request.method == "HEAD" && of_get != nullptr)
        return of_get->handler(std::move(request), parameters_of_get, std::move(reply));
    if (allowed.empty()) return reply.answer(error_response(404, "there is nothing at " + request.path));
    std::string list;
    for (const std::string& method : allowed) list += (list.empty() ? "" : ", ") + method;
    HttpResponse refusal = error_response(405, request.method + " is not possible here, but " + list);
    refusal.headers.push_back({"Allow", list});
    reply.answer(std::move(refusal));
}

}  // namespace dynaplan::net
