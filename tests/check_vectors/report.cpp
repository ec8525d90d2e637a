#include "check_vectors/report.hpp"

#include <algorithm>
#include <exception>
#include <ostream>

namespace dynaplan::check_vectors {

using nlohmann::json;

void Report::begin_file(std::string path) {
    file_ = std::move(path);
    case_.clear();
    step_.clear();
    cases_in_file_ = 0;
}

void Report::end_file() {
    if (cases_in_file_ == 0) fail_file("no vectors in this file");
}

void Report::fail_file(std::string_view why) {
    out_ << file_ << ": " << why << '\n';
    ++failed_;
    ++cases_in_file_;
}

void Report::begin_case(std::string_view name) {
    case_ = name;
    step_.clear();
    differences_in_case_ = 0;
    ++cases_in_file_;
}

void Report::end_case() {
    ++(differences_in_case_ == 0 ? passed_ : failed_);
    case_.clear();
    step_.clear();
}

void Report::run_case(std::string_view name, const std::function<void()>& body) {
    begin_case(name);
    try {
        body();
    } catch (const std::exception& error) {
        fail("vector", error.what());
    }
    end_case();
}

void Report::print_place() {
    out_ << file_ << ": " << case_;
    if (!step_.empty()) out_ << ": step " << step_;
    out_ << ": ";
}

void Report::differ_in_words(std::string_view field, std::string_view expected, std::string_view got) {
    ++differences_in_case_;
    print_place();
    out_ << field << ": expected " << expected << ", got " << got << '\n';
}

void Report::differ(std::string_view field, const json& expected, const json& got) {
    differ_in_words(field, shown(expected), shown(got));
}

void Report::fail(std::string_view field, std::string_view why) {
    ++differences_in_case_;
    print_place();
    out_ << field << ": " << why << '\n';
}

bool Report::compare(std::string_view field, const json& expected, const json& got,
                     const Tolerance& tolerance) {
    if (same(expected, got, tolerance)) return true;
    differ(field, expected, got);
    return false;
}

bool Report::compare_members(std::string_view field, const json& expected, const json& got,
                             const Tolerance& tolerance) {
    const auto path = [&](std::string_view name) {
        std::string text{field};
        if (!text.empty() && !name.starts_with('[')) text += '.';
        return text.append(name);
    };
    bool equal = true;
    if (expected.is_object() && got.is_object()) {
        for (const auto& [name, value] : expected.items()) {
            const auto member = got.find(name);
            if (member == got.end()) {
                differ_in_words(path(name), shown(value), "nothing: there is no such member");
                equal = false;
            } else {
                equal = compare_members(path(name), value, *member, tolerance) && equal;
            }
        }
        return equal;
    }
    if (expected.is_array() && got.is_array() && expected.size() == got.size()) {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            equal =
                compare_members(path('[' + std::to_string(i) + ']'), expected[i], got[i], tolerance) && equal;
        }
        return equal;
    }
    return compare(field, expected, got, tolerance);
}

bool Report::only_members(std::string_view what, const json& object,
                          std::initializer_list<std::string_view> known) {
    bool all_known = true;
    for (const auto& [name, value] : object.items()) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        fail(std::string{what} + '.' + name, "unknown member");
        all_known = false;
    }
    return all_known;
}

}  // namespace dynaplan::check_vectors
