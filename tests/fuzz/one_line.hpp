// What every message about bad input promises: one line that can be printed, and not as long as the input.
#pragma once

#include <string>
#include <string_view>

namespace dynaplan::fuzz {

// "" or what is wrong with the message.
inline std::string one_line_problem(std::string_view message) {
    constexpr std::size_t length_max = 600;
    if (message.empty()) return "an error without a message";
    if (message.size() > length_max)
        return "an error of " + std::to_string(message.size()) +
               " bytes: " + std::string{message.substr(0, length_max)};
    for (const char c : message) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) return "a control character in the error: " + std::string{message};
    }
    return "";
}

}  // namespace dynaplan::fuzz
