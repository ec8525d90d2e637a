#include "net/http_message.hpp"

#include <algorithm>

#include "wire/json_writer.hpp"

namespace dynaplan::net {

const std::string* find_header(const Headers& headers, std::string_view name) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    for (const Header& header : headers) {
        if (std::equal(header.name.begin(), header.name.end(), name.begin(), name.end(),
                       [&](char a, char b) { return lower(a) == lower(b); }))
            return &header.value;
    }
    return nullptr;
}

const std::string* HttpRequest::query_value(std::string_view name) const {
    const auto found =
        std::find_if(query.begin(), query.end(), [&](const QueryItem& item) { return item.name == name; });
    return found == query.end() ? nullptr : &found->value;
}

HttpResponse error_response(unsigned status, std::string_view message) {
    HttpResponse response;
    response.status = status;
    wire::JsonWriter{response.body}.begin_object().member("error", message).end_object();
    response.body += '\n';
    return response;
}

}  // namespace dynaplan::net
