#include "wire/fpm_admit.hpp"

#include <cmath>

#include "wire/fpm_fields.hpp"

namespace dynaplan::wire {

namespace {

// What any number of the message says about itself.
struct Findings {
    bool non_finite = false;
    bool negative = false;
    std::uint16_t beyond_int64 = 0;

    void operator()(std::string_view, std::int64_t value, unsigned bit) { integer(value, bit); }
    void operator()(std::string_view, double value) { real(value); }
    void integer(std::int64_t value, unsigned bit) {
        // With its bit set the value is 2^63 or more, whatever the sign of the int64 says.
        if (value < 0 && (beyond_int64 & (1U << bit)) == 0) negative = true;
    }
    void real(double value) {
        if (!std::isfinite(value)) non_finite = true;
        if (value < 0.0) negative = true;  // false for -0.0 and for NaN
    }
};

}  // namespace

FpmResult admit_values(const Fpm& fpm, std::uint16_t beyond_int64) {
    if (fpm.worker_id.empty()) return tl::unexpected{FpmError::empty_worker_id};
    Findings found;
    found.beyond_int64 = beyond_int64;
    found.integer(fpm.version, version_bit);
    found.integer(fpm.dp_rank, dp_rank_bit);
    found.integer(fpm.pass.counter_id, counter_id_bit);
    found.real(fpm.pass.wall_time);
    visit_fields(scheduled_fields, fpm.pass.scheduled, found);
    visit_fields(queued_fields, fpm.pass.queued, found);
    if (found.non_finite) return tl::unexpected{FpmError::non_finite};
    if (found.negative) return tl::unexpected{FpmError::negative};
    if (beyond_int64 != 0) return tl::unexpected{FpmError::out_of_range};
    return {};
}

FpmResult admit(const DecodedFpm& message) {
    if (!message.has_engine_key) return tl::unexpected{FpmError::no_engine_key};
    return admit_values(message.fpm, message.beyond_int64);
}

}  // namespace dynaplan::wire
