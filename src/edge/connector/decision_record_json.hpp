// One decision's record as a JSON object, and how the members of any object are read: what the decisions file
// and the etcd store share. Internal to .cpp files, since it includes the JSON library.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "port/decision_store.hpp"
#include "wire/json_writer.hpp"

namespace dynaplan::connector {

// A member that is absent or null is not set; one of another type is kept as the problem.
class Members {
public:
    explicit Members(const nlohmann::json& object) : object_{object} {
        if (!object.is_object()) problem_ = "is no JSON object";
    }
    [[nodiscard]] const std::string& problem() const { return problem_; }

    const nlohmann::json* find(const char* name) {
        if (!object_.is_object()) return nullptr;
        const auto at = object_.find(name);
        return at == object_.end() || at->is_null() ? nullptr : &*at;
    }
    std::optional<std::int64_t> number(const char* name) {
        const nlohmann::json* v = find(name);
        if (v == nullptr) return std::nullopt;
        const bool whole = v->is_number_integer() && (!v->is_number_unsigned() || fits(*v));
        if (!whole) return wrong(name);
        return v->get<std::int64_t>();
    }
    std::int64_t needed(const char* name) {
        if (find(name) == nullptr) return *wrong(name);
        return number(name).value_or(0);
    }
    std::optional<Replicas> replicas(const char* name) {
        const auto n = number(name);
        return n ? std::optional{Replicas{*n}} : std::nullopt;
    }
    std::string text(const char* name) {
        const nlohmann::json* v = find(name);
        if (v == nullptr) return {};
        if (v->is_string()) return v->get<std::string>();
        wrong(name);
        return {};
    }
    const nlohmann::json* list(const char* name) {
        const nlohmann::json* v = find(name);
        if (v == nullptr || v->is_array()) return v;
        wrong(name);
        return nullptr;
    }
    std::optional<std::int64_t> wrong(const char* name) {
        if (problem_.empty()) problem_ = std::string{"has no usable '"} + name + "'";
        return 0;
    }

private:
    static bool fits(const nlohmann::json& v) {
        return v.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    }

    const nlohmann::json& object_;
    std::string problem_;
};

inline std::optional<std::int64_t> count_of(const std::optional<Replicas>& n) {
    return n ? std::optional{n->count()} : std::nullopt;
}

void write_record(wire::JsonWriter& w, const port::DecisionRecord& record);
// What is wrong with the object ("has no usable 'state'"), or nothing.
[[nodiscard]] std::string read_record(const nlohmann::json& object, port::DecisionRecord& record);

}  // namespace dynaplan::connector
