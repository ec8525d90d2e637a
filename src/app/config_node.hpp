// A configuration document as it was written: YAML and JSON in one form, each value with its line, so that
// every problem can name its place. Parsers refuse what is not a plain document: more than one document, YAML
// tags beyond the plain types, nesting or aliases that would grow without bound.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/field_value.hpp"
#include "core/result.hpp"

namespace dynaplan::app {

// Bounds of a document, and of what its aliases make of it. A real configuration has a few hundred values,
// five levels deep.
inline constexpr std::size_t config_bytes_max = 1 << 20;
inline constexpr std::size_t config_nodes_max = 20'000;
inline constexpr std::size_t config_depth_max = 32;  // lists and maps inside each other

struct Node {
    enum class Kind : std::uint8_t { scalar, list, map };
    Kind kind = Kind::scalar;
    FieldValue scalar;              // of a scalar; plain YAML words other than null are text
    std::vector<std::string> keys;  // of a map, as written: a repeated key stands twice
    std::vector<Node> items;        // of a list or a map
    int line = 0;                   // of the value's beginning; of the key in a map
};

// The error's message begins with the line: "3: mapping values are not allowed here".
Result<Node> parse_yaml(std::string_view text);
Result<Node> parse_json(std::string_view text);
// How both of them fail: one line that can be printed, however long what they quote is.
tl::unexpected<Error> document_failure(int line, std::string_view what);

// Where a configuration came from, and what it says.
struct Document {
    std::string place;  // file name, or "--config" for inline JSON
    Node root;
};

// Dynamo's rule for the value of --config: the name of a regular file (YAML, JSON, or by extension neither:
// JSON first, then YAML), else inline JSON. Errors are one line with place and line.
Result<Document> read_document(const std::string& value);

}  // namespace dynaplan::app
