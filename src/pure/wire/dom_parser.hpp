// A simdjson parser with a buffer of its own, so that any text can be parsed: simdjson reads past a text's
// end. Internal to .cpp files. The element is valid until the next call.
#pragma once

#include <simdjson.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace dynaplan::wire {

class DomParser {
public:
    simdjson::simdjson_result<simdjson::dom::element> parse(std::string_view text) {
        const std::size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
        if (buffer_.size() < needed) buffer_.resize(2 * needed);
        if (!text.empty()) std::memcpy(buffer_.data(), text.data(), text.size());
        return parser_.parse(buffer_.data(), text.size(), false);
    }

private:
    simdjson::dom::parser parser_;
    std::vector<char> buffer_;
};

}  // namespace dynaplan::wire
