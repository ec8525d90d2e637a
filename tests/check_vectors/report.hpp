// What check_vectors has found so far: prints each difference as it comes, counts cases. One per run.
//
//     report.begin_case("ramp_up");
//     report.at_step("tick 12");                                   // where in the case, when it has steps
//     report.compare("scale_to.decode", expected, got);            // or differ(...) when they are known to
//     differ report.end_case();
//
// A file that cannot be checked at all counts as one failed case (fail_file). Values are nlohmann::json on
// both sides: a checker turns what the program answered into JSON and hands both over (compare.hpp has the
// rules).
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "check_vectors/compare.hpp"

namespace dynaplan::check_vectors {

class Report {
public:
    explicit Report(std::ostream& out) : out_{out} {}

    void begin_file(std::string path);
    void end_file();  // a file without a case is a failure
    // The file, or what is left of it, cannot be checked: counts as one failed case.
    void fail_file(std::string_view why);

    void begin_case(std::string_view name);
    void end_case();
    // begin_case, body, end_case; an exception of the body (a malformed vector) fails the case.
    void run_case(std::string_view name, const std::function<void()>& body);

    void at_step(std::string step) { step_ = std::move(step); }
    void at_step(std::int64_t step) { step_ = std::to_string(step); }

    // A difference in the current case.
    void differ(std::string_view field, const nlohmann::json& expected, const nlohmann::json& got);
    // The same, both sides in words.
    void differ_in_words(std::string_view field, std::string_view expected, std::string_view got);
    // The case cannot be checked, or not further: an unknown operation or member, say.
    void fail(std::string_view field, std::string_view why);

    // Compares and reports; true when equal.
    bool compare(std::string_view field, const nlohmann::json& expected, const nlohmann::json& got,
                 const Tolerance& tolerance = exact);
    // Every member of `expected`, and only those, by name; nested objects likewise, lists in order and
    // length. A member that `got` lacks is a difference, also one that the checker has never heard of.
    bool compare_members(std::string_view field, const nlohmann::json& expected, const nlohmann::json& got,
                         const Tolerance& tolerance = exact);
    // Fails the case when the object holds a member that is not in the list. `what` says what the object is.
    bool only_members(std::string_view what, const nlohmann::json& object,
                      std::initializer_list<std::string_view> known);

    [[nodiscard]] std::uint64_t passed() const { return passed_; }
    [[nodiscard]] std::uint64_t failed() const { return failed_; }

private:
    void print_place();

    std::ostream& out_;
    std::string file_;
    std::string case_;
    std::string step_;
    std::uint64_t cases_in_file_ = 0;
    std::uint64_t differences_in_case_ = 0;
    std::uint64_t passed_ = 0;
    std::uint64_t failed_ = 0;
};

}  // namespace dynaplan::check_vectors
