// The pages of proto/ as tests read them: tables, fenced blocks, bytes in hex.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace dynaplan::wire::test {

using Row = std::vector<std::string>;

inline std::vector<std::string> lines_of(const std::string& name) {
    std::ifstream in{std::string{DYNAPLAN_PROTO_DIR} + "/" + name};
    REQUIRE(in.good());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

// Without spaces around it, and without the back ticks of code.
inline std::string plain(std::string cell) {
    const auto drop = [](std::string& text, std::string_view what) {
        text.erase(0, std::min(text.find_first_not_of(what), text.size()));
        text.erase(text.find_last_not_of(what) + 1);
    };
    drop(cell, " ");
    if (cell.find(',') == std::string::npos) drop(cell, "`");
    return cell;
}

inline Row cells_of(const std::string& line) {
    Row cells;
    std::istringstream in{line.substr(1)};
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(plain(cell));
    return cells;
}

// The rows of each table, under the first cell of its head; tables of the same head follow each other.
inline std::map<std::string, std::vector<std::vector<Row>>> tables_of(const std::string& name) {
    std::map<std::string, std::vector<std::vector<Row>>> tables;
    std::vector<Row>* table = nullptr;
    for (const std::string& line : lines_of(name)) {
        if (!line.starts_with('|')) {
            table = nullptr;
        } else if (line.starts_with("|---")) {
            continue;
        } else if (table == nullptr) {
            auto& all = tables[cells_of(line)[0]];
            all.emplace_back();
            table = &all.back();
        } else {
            table->push_back(cells_of(line));
        }
    }
    return tables;
}

// The contents of the ```kind blocks, line ends kept.
inline std::vector<std::string> blocks_of(const std::string& name, const std::string& kind) {
    std::vector<std::string> blocks;
    bool inside = false;
    for (const std::string& line : lines_of(name)) {
        if (line == "```" + kind) {
            blocks.emplace_back();
            inside = true;
        } else if (line == "```") {
            inside = false;
        } else if (inside) {
            blocks.back().append(line).append("\n");
        }
    }
    return blocks;
}

inline std::string bytes_of(const std::string& hex) {
    std::string digits;
    std::copy_if(hex.begin(), hex.end(), std::back_inserter(digits),
                 [](char c) { return std::isxdigit(c) != 0; });
    REQUIRE(digits.size() % 2 == 0);
    std::string bytes;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

}  // namespace dynaplan::wire::test
