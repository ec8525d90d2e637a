// A container's arguments as its process would see them (connectors specification 2.5): a text or a list of
// texts, each split by the POSIX shell's rules for words and quotes; nothing is expanded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dynaplan::wire {

// Nothing when a quote is not closed, or a backslash escapes nothing.
std::optional<std::vector<std::string>> shell_words(std::string_view text);

// The value of the last `flag value` or `flag=value`; a flag that is the last word has none.
std::optional<std::string> flag_value(const std::vector<std::string>& words, std::string_view flag);

// The model that a worker serves, by the first of these flags that is given: --served-model-name,
// --model-name, --model. An empty name is none.
std::optional<std::string> model_of_arguments(const std::vector<std::string>& words);

}  // namespace dynaplan::wire
