#include "check_vectors/observation.hpp"

#include <stdexcept>

#include "check_vectors/compare.hpp"

namespace dynaplan::check_vectors {

double number(const nlohmann::json& value) {
    const std::optional<double> d = as_double(value);
    if (!d) throw std::runtime_error("not a number: " + value.dump());
    return *d;
}

std::optional<double> optional_number(const nlohmann::json& value) {
    if (value.is_null()) return std::nullopt;
    return number(value);
}

namespace {

// Counts are 64-bit integers; a whole number written as a float is one too.
std::int64_t count(const nlohmann::json& value) {
    if (value.is_number_integer()) return value.get<std::int64_t>();
    return static_cast<std::int64_t>(number(value));
}

}  // namespace

Fpm observation(const nlohmann::json& o) {
    const nlohmann::json& s = o.at(3);
    const nlohmann::json& q = o.at(4);
    if (o.size() != 5 || s.size() != 7 || q.size() != 6)
        throw std::runtime_error("observation of another shape");
    Fpm fpm;
    fpm.worker_id = o.at(0).get<std::string>();
    fpm.dp_rank = count(o.at(1));
    fpm.pass.wall_time = number(o.at(2));
    fpm.pass.scheduled = {count(s.at(0)), count(s.at(1)), number(s.at(2)), count(s.at(3)),
                          count(s.at(4)), count(s.at(5)), number(s.at(6))};
    fpm.pass.queued = {count(q.at(0)), count(q.at(1)), number(q.at(2)),
                       count(q.at(3)), count(q.at(4)), number(q.at(5))};
    return fpm;
}

}  // namespace dynaplan::check_vectors
