// First half of loading: every setting that was written anywhere, found, checked on its own, and merged by
// precedence. No rule on more than one field is known here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/config_load.hpp"
#include "app/config_node.hpp"

namespace dynaplan::app {

struct Setting {
    Row row;
    Origin origin;
    FieldValue value;  // coerced, unless the row is a list or structured
    Node node;         // of a list
};

struct PlacedProblem {
    std::string place;    // "planner.yaml", "--ttft", ...
    int line = 0;         // 0: none
    std::string message;  // with the field's name
};

struct Gathered {
    std::map<std::string, Setting> settings;  // by canonical name
    std::vector<PlacedProblem> problems;
    std::vector<std::string> warnings;
    int suggestions = 0;  // made for unknown names so far
};

// Later calls override earlier ones: environment, then the document, then flags.
void gather_environment(const Environment&, Gathered&);
void gather_document(const Document&, bool allow_unknown, Gathered&);
void gather_overrides(const std::vector<Override>&, Gathered&);

std::string line_of(const PlacedProblem&);  // "place:line: message"

}  // namespace dynaplan::app
