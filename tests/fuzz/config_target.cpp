#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "app/config_describe.hpp"
#include "app/config_load.hpp"
#include "app/config_node.hpp"
#include "fuzz/one_line.hpp"
#include "fuzz/targets.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace app;

// "" or what is wrong with an error that begins with its line.
std::string error_problem(const std::string& message, int lines) {
    if (std::string problem = one_line_problem(message); !problem.empty()) return problem;
    int line = 0;
    const auto [end, error] = std::from_chars(message.data(), message.data() + message.size(), line);
    if (error != std::errc{} || !std::string_view{end}.starts_with(": "))
        return "an error without its line: " + message;
    return line >= 1 && line <= lines ? "" : "an error on a line that is not there: " + message;
}

struct Tree {
    int lines = 0;  // of the text
    std::size_t nodes = 0;
    std::size_t bytes = 0;  // of its texts
    std::string problem;

    void walk(const Node& node, std::size_t depth) {
        if (++nodes; depth > config_depth_max) problem = "deeper than the limit";
        if (node.line < 1 || node.line > lines) problem = "a value on a line that is not there";
        if (const auto* text = std::get_if<std::string>(&node.scalar)) bytes += text->size();
        for (const std::string& key : node.keys) bytes += key.size();
        const bool map = node.kind == Node::Kind::map;
        if (map ? node.keys.size() != node.items.size() : !node.keys.empty()) problem = "keys without values";
        if (node.kind == Node::Kind::scalar && !node.items.empty()) problem = "a scalar with items";
        if (!problem.empty()) return;
        for (const Node& item : node.items) walk(item, depth + (item.kind == Node::Kind::scalar ? 0 : 1));
    }
};

void write(wire::JsonWriter& w, const Node& node) {
    switch (node.kind) {
        case Node::Kind::scalar:
            std::visit(
                [&w](const auto& v) {
                    if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
                        w.null();
                    } else {
                        w.value(v);
                    }
                },
                node.scalar);
            return;
        case Node::Kind::list:
            w.begin_array();
            for (const Node& item : node.items) write(w, item);
            w.end_array();
            return;
        case Node::Kind::map:
            w.begin_object();
            for (std::size_t i = 0; i < node.items.size(); ++i) write(w.key(node.keys[i]), node.items[i]);
            w.end_object();
            return;
    }
}

std::string written(const Node& node) {
    std::string out;
    wire::JsonWriter w{out};
    write(w, node);
    return out;
}

LoadedConfig loaded_from(const std::string& json) {
    ConfigRequest request;
    request.config = json;
    return load_config(request);
}

// The whole way, from the text of --config to typed fields. `json` is an object: not to be taken for the name
// of a file.
std::string load_problem(const std::string& json) {
    const LoadedConfig loaded = loaded_from(json);
    for (const auto* messages : {&loaded.problems, &loaded.warnings}) {
        for (const std::string& message : *messages) {
            if (std::string problem = one_line_problem(message); !problem.empty()) return problem;
        }
    }
    if (!loaded.ok()) return "";
    const auto config_of = [](const LoadedConfig& of) {
        return nlohmann::ordered_json::parse(show_config_json(of))["config"].dump();
    };
    const std::string shown = config_of(loaded);
    const LoadedConfig again = loaded_from(shown);
    if (!again.ok()) return "what is shown is refused: " + again.problems.front() + "\nread: " + json;
    if (config_of(again) != shown) return "what is shown loads as something else; read: " + json;
    return "";
}

std::string parse_problem(std::string_view text, Result<Node> (*parse)(std::string_view)) {
    const auto root = parse(text);
    Tree tree;
    tree.lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (!root) return error_problem(root.error().message, tree.lines);
    tree.walk(*root, root->kind == Node::Kind::scalar ? 0 : 1);
    if (!tree.problem.empty()) return tree.problem;
    if (tree.nodes > config_nodes_max) return "more values than the limit";
    if (tree.bytes > config_bytes_max) return "more text than the limit";

    const std::string json = written(*root);
    const auto back = parse_json(json);
    if (!back) return "what was read is refused as JSON: " + back.error().message + "\n" + json;
    if (written(*back) != json) return "what was read:\n" + json + "\nreads as:\n" + written(*back);
    if (root->kind != Node::Kind::map || json.size() > config_bytes_max) return "";
    return load_problem(json);
}

}  // namespace

std::string try_config(std::string_view text) {
    if (text.size() > config_bytes_max) return "";  // refused before it is parsed
    if (std::string problem = parse_problem(text, parse_json); !problem.empty()) return "JSON: " + problem;
    if (std::string problem = parse_problem(text, parse_yaml); !problem.empty()) return "YAML: " + problem;
    return "";
}

}  // namespace dynaplan::fuzz
