// From the value of --config to a document.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "app/config_node.hpp"
#include "app/config_words.hpp"

namespace dynaplan::app {
namespace {

namespace fs = std::filesystem;

std::string lower_extension(const std::string& path) {
    std::string ext = fs::path{path}.extension().string();
    std::ranges::transform(
        ext, ext.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return ext;
}

Result<std::string> read_file(const std::string& path) {
    std::ifstream in{path, std::ios::binary};
    if (!in) return failure(path + ": cannot be read");
    std::string text(config_bytes_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return failure(path + ": cannot be read");
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > config_bytes_max) {
        return failure(path + ": is larger than " + std::to_string(config_bytes_max) +
                       " bytes: this is no configuration");
    }
    return text;
}

std::string_view without_bom(std::string_view text) {
    constexpr std::string_view bom = "\xEF\xBB\xBF";
    return text.substr(0, bom.size()) == bom ? text.substr(bom.size()) : text;
}

Result<Node> parse(const std::string& extension, std::string_view text) {
    if (extension == ".yaml" || extension == ".yml") return parse_yaml(text);
    if (extension == ".json") return parse_json(text);
    if (auto node = parse_json(text)) return node;
    return parse_yaml(text);
}

bool looks_like_json(const std::string& value) {
    const auto first = value.find_first_not_of(" \t\r\n");
    return first != std::string::npos && (value[first] == '{' || value[first] == '[');
}

// A name that is meant as a file is told as such; anything else gets both possibilities named.
Error not_a_source(const std::string& value) {
    return Error{"--config: \"" + printable(value) +
                 "\" is neither a file that exists nor inline JSON ({...})"};
}

Result<Document> checked(std::string place, Result<Node> node) {
    if (!node) return failure(place + ":" + node.error().message);
    if (node->kind != Node::Kind::map) {
        return failure(place + ":" + std::to_string(std::max(1, node->line)) +
                       ": a configuration is a map of fields, as in \"ttft: 500\"");
    }
    return Document{std::move(place), std::move(*node)};
}

}  // namespace

tl::unexpected<Error> document_failure(int line, std::string_view what) {
    constexpr std::size_t shown_max = 200;  // parsers quote what they read, whole
    return failure(std::to_string(line) + ": " + printable(what, shown_max));
}

Result<Document> read_document(const std::string& value) {
    if (value.empty()) return failure("--config: is empty; give a file or inline JSON");
    // A path error ("name too long") counts as "not a file".
    std::error_code error;
    const auto status = fs::status(value, error);
    if (!error && fs::is_directory(status)) return failure(value + ": is a directory, not a file");
    if (!error && fs::exists(status) && !fs::is_regular_file(status)) {
        return failure(value + ": is not a regular file");
    }
    if (error || !fs::is_regular_file(status)) {
        if (!looks_like_json(value)) return tl::unexpected<Error>{not_a_source(value)};
        if (value.size() > config_bytes_max) return failure("--config: inline JSON of this size is refused");
        return checked("--config", parse_json(value));
    }
    const auto text = read_file(value);
    if (!text) return failure(text.error().message);
    const std::string_view body = without_bom(*text);
    if (body.find('\0') != std::string_view::npos) return failure(value + ": is not a text file");
    if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        return failure(value + ": is empty; write {} for all defaults");
    }
    return checked(value, parse(lower_extension(value), body));
}

}  // namespace dynaplan::app
