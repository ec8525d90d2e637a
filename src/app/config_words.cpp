#include "app/config_words.hpp"

namespace dynaplan::app {

std::string printable(std::string_view text, std::size_t most) {
    std::string out{text.substr(0, most)};
    for (char& c : out) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) c = '?';
    }
    if (text.size() > most) out += "...";
    return out;
}

}  // namespace dynaplan::app
