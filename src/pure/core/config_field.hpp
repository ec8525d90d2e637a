// One table of configuration fields. Each row carries all that is to be known about a field: where it stands,
// its type, unit, bounds and values, whether it may change while the planner runs, and why it is there. The
// file parser, the step protocol's `config` event, the journal's header, the JSON schema and
// docs/configuration.md are all made from these rows; nothing else lists the fields.
//
// Field names follow Dynamo's PlannerConfig of April 2026; the names of August 2026 are aliases, and where
// both are given the August one wins, as it does there. Problems are returned as text, all at once; nothing
// throws.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/field_value.hpp"
#include "core/result.hpp"

namespace dynaplan {

enum class FieldType : std::uint8_t { boolean, integer, number, text, enumeration };
std::string_view to_string(FieldType);

// What is known of a field without touching a configuration.
struct FieldInfo {
    std::string_view section{};  // "" for Dynamo's top level, else "policy", "capabilities.prefill", ...
    std::string_view name{};
    std::vector<std::string_view> aliases{};  // full dotted names; the first is August's where there is one
    FieldType type = FieldType::text;
    bool nullable = false;
    std::string_view unit{};  // empty: a bare number or no number
    std::optional<double> minimum{};
    bool above_minimum = false;  // the minimum itself is excluded
    std::optional<double> maximum{};
    std::vector<std::string_view> values{};   // of an enumeration, in the order of the enum
    std::vector<std::string_view> not_yet{};  // values that Dynamo knows and Dynaplan does not have yet
    std::string_view missing{};  // what it belongs to does not exist yet: only the preset's default is taken
    std::string_view zero_word{};    // the written form of 0: "off", "auto" or "none"
    bool while_running = false;      // may change in a `config` event
    bool secret = false;             // never shown
    std::string_view environment{};  // variable that gives the default
    std::string_view help{};         // what it does and why

    [[nodiscard]] std::string path() const;  // section and name, dotted
};

// A row with access to the struct that holds the field. `set` is only called with a value that came out of
// coerce().
template <class Config>
struct FieldOf : FieldInfo {
    FieldValue (*get)(const Config&) = nullptr;
    void (*set)(Config&, const FieldValue&) = nullptr;
};
using Field = FieldOf<PlannerConfig>;

// Every field of PlannerConfig: top level, policy.*, capabilities.{prefill,decode}.*, in the order of the
// documentation. Made once; the rows live as long as the program.
std::span<const Field> planner_fields();

// By full dotted name or alias ("ttft", "ttft_ms", "policy.trigger"); null when there is none.
const Field* find_field(std::string_view dotted_name);

// A value as it was written, turned into the type of the field and checked against its bounds. Lenient as
// Dynamo is: "180" and 180.0 are whole numbers, 180.5 is not; true/yes/on/1 and their opposites are booleans.
// The message has no field name in it: "must be above 0, not -1".
Result<FieldValue> coerce(const FieldInfo&, const FieldValue&);

using NamedValue = std::pair<std::string, FieldValue>;

struct Problem {
    std::string field;    // as it was written
    std::string message;  // what is wrong, without the field
};

// Sets fields by name. A `preset` other than the one in force puts that preset's defaults in place first,
// then the other fields follow, in any order. Then easy targets force their switches (force_easy_target) and
// the whole is checked with problems_of. All or nothing: with any problem the configuration stays as it was.
// `while_running` refuses fields that need a restart.
std::vector<Problem> set_fields_with_places(PlannerConfig&, std::span<const NamedValue>, bool while_running);

// The same, each problem as one line "field: message".
std::vector<std::string> set_fields(PlannerConfig&, std::span<const NamedValue>, bool while_running);

// Rules on more than one field, and the bounds of each. Empty: the configuration is sound. Under
// `preset: dynamo` the reference's lenient values stay allowed (a budget below the minimum, more observations
// wanted than samples kept).
std::vector<Problem> find_problems(const PlannerConfig&);
std::vector<std::string> problems_of(const PlannerConfig&);

// Dynamo's easy targets (throughput, latency, load) decide from queues alone: load scaling is forced on,
// throughput scaling off. Does nothing for `sla`.
void force_easy_target(PlannerConfig&);

// Every field with its value, in the order of the table. set_fields of it gives the same configuration again.
std::vector<NamedValue> values_of(const PlannerConfig&);

// The fields in which `wanted` differs, with its values: what a `config` event has to set to get there.
std::vector<NamedValue> changes_between(const PlannerConfig& now, const PlannerConfig& wanted);

// The candidate that a misspelt name most likely meant, or an empty string when none is near. A bare field
// name finds its row in a section too: "trigger" gives "policy.trigger".
std::string nearest_name(std::string_view wrong, std::span<const std::string> candidates);
std::string nearest_field(std::string_view wrong);

// Numbers in their shortest round-trip form, text bare, null as "null".
std::string text_of(const FieldValue&);
// As it stands in a file: 0 of a field with a zero_word is that word.
FieldValue written_form(const FieldInfo&, const FieldValue&);

}  // namespace dynaplan
