#include "wire/command_words.hpp"

#include <cstddef>

namespace dynaplan::wire {

std::optional<std::vector<std::string>> shell_words(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    bool inside = false;  // a word has begun, if only with empty quotes
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool last = i + 1 == text.size();
        if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            } else if (quote == '"' && c == '\\' && !last && (text[i + 1] == '"' || text[i + 1] == '\\')) {
                word += text[++i];
            } else {
                word += c;
            }
        } else if (c == '\'' || c == '"') {
            quote = c;
            inside = true;
        } else if (c == '\\') {
            if (last) return std::nullopt;
            word += text[++i];
            inside = true;
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            if (inside) words.push_back(std::move(word));
            word.clear();
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (quote != '\0') return std::nullopt;
    if (inside) words.push_back(std::move(word));
    return words;
}

std::optional<std::string> flag_value(const std::vector<std::string>& words, std::string_view flag) {
    for (std::size_t i = words.size(); i-- > 0;) {
        const std::string_view word = words[i];
        if (word == flag && i + 1 < words.size()) return words[i + 1];
        if (word.size() > flag.size() && word.starts_with(flag) && word[flag.size()] == '=') {
            return std::string{word.substr(flag.size() + 1)};
        }
    }
    return std::nullopt;
}

std::optional<std::string> model_of_arguments(const std::vector<std::string>& words) {
    for (const std::string_view flag : {"--served-model-name", "--model-name", "--model"}) {
        auto name = flag_value(words, flag);
        if (name && !name->empty()) return name;
    }
    return std::nullopt;
}

}  // namespace dynaplan::wire
