#include "wire/broker_url.hpp"

#include <cstddef>

#include "wire/json_nearest.hpp"

namespace dynaplan::wire {

namespace {

constexpr std::string_view expected = "expected 'xsub=<url>[;<url>...],xpub=<url>[;<url>...]'";

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\n\v\f\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> addresses_of(std::string_view list) {
    std::vector<std::string> addresses;
    while (true) {
        const std::size_t end = list.find(';');
        const std::string_view address = trimmed(list.substr(0, end));
        if (!address.empty()) addresses.emplace_back(address);
        if (end == std::string_view::npos) return addresses;
        list.remove_prefix(end + 1);
    }
}

}  // namespace

Result<BrokerUrl> parse_broker_url(std::string_view text) {
    const auto wrong = [](const std::string& what) {
        return failure("DYN_ZMQ_BROKER_URL: " + what + ", " + std::string{expected});
    };
    const std::size_t comma = text.find(',');
    if (comma == std::string_view::npos || text.find(',', comma + 1) != std::string_view::npos) {
        return wrong(in_quotes(text) + " does not have two parts with one comma between them");
    }
    BrokerUrl out;
    for (const std::string_view raw : {text.substr(0, comma), text.substr(comma + 1)}) {
        const std::string_view part = trimmed(raw);
        constexpr std::size_t name_size = 5;  // of both names
        const std::string_view name = part.substr(0, name_size);
        if (name != "xsub=" && name != "xpub=") {
            return wrong("the part " + in_quotes(part) + " begins with neither 'xsub=' nor 'xpub='");
        }
        // Of a part that is given twice the last one counts; the other list is empty then, and refused below.
        (name == "xsub=" ? out.xsub : out.xpub) = addresses_of(part.substr(name_size));
    }
    if (out.xsub.empty()) return wrong("no address for 'xsub='");
    if (out.xpub.empty()) return wrong("no address for 'xpub='");
    return out;
}

}  // namespace dynaplan::wire
