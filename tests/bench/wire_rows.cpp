// Decoding the FPM message, alone and with admission.
#include "bench/row.hpp"
#include "bench/samples.hpp"
#include "core/assert.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/fpm_decode.hpp"
#include "wire/fpm_encode.hpp"

namespace dynaplan::bench {

namespace {

// 2,000 messages of the size that the reference's figures were taken with.
std::vector<std::string> messages() {
    constexpr std::size_t shortest = 434;
    constexpr std::size_t longest = 438;
    constexpr std::int64_t count = 2'000;
    Draws u{2024};
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < count; ++i) {
        Fpm fpm;
        fpm.worker_id = worker_id(i);
        fpm.dp_rank = i % 8;
        fpm.pass = agg_pass(u);
        fpm.pass.counter_id = 30'000 + i;
        fpm.pass.scheduled.var_prefill_length = 1e6 * u.next();
        fpm.pass.scheduled.sum_prefill_tokens += 256;
        fpm.pass.scheduled.sum_prefill_kv_tokens = u.below(100.0);
        fpm.pass.scheduled.sum_decode_kv_tokens += 256;
        fpm.pass.scheduled.var_decode_kv_tokens = 1e6 * u.next();
        fpm.pass.queued.num_prefill_requests = 1 + u.below(20.0);
        fpm.pass.queued.sum_prefill_tokens += 256;
        fpm.pass.queued.var_prefill_length = 1e6 * u.next();
        fpm.pass.queued.num_decode_requests = u.below(4.0);
        fpm.pass.queued.sum_decode_kv_tokens = u.below(100.0);
        fpm.pass.queued.var_decode_kv_tokens = 1e6 * u.next();
        wire::encode_fpm(fpm, all.emplace_back());
        DYNAPLAN_ASSERT(all.back().size() >= shortest && all.back().size() <= longest);
    }
    return all;
}

template <class Use>
void add(std::vector<Row>& rows, std::string name, double reference, std::optional<double> target, Use use) {
    rows.push_back({std::move(name), Unit::rate, reference, target, [=](bool quick) -> std::function<Pass()> {
                        return [use, all = messages(), rounds = quick ? 1 : 50] {
                            wire::DecodedFpm out;
                            bool good = use(all.front(), out);  // gives `out` its room
                            const auto n = static_cast<std::int64_t>(all.size()) * rounds;
                            const Pass pass = counted_pass(n, [&] {
                                for (int i = 0; i < rounds; ++i) {
                                    for (const std::string& m : all) good = use(m, out) && good;
                                }
                            });
                            DYNAPLAN_ASSERT(good);
                            return pass;
                        };
                    }});
}

}  // namespace

void add_wire_rows(std::vector<Row>& rows) {
    add(rows, "msgpack decode of a 434-438-byte message, typed and strict", 1.0 / 713'363, std::nullopt,
        [](const std::string& m, wire::DecodedFpm& out) { return wire::decode_fpm(m, out).has_value(); });
    add(rows, "the same, decoded and admitted", 1.0 / 124'752, 0.35e-6,
        [](const std::string& m, wire::DecodedFpm& out) {
            return wire::decode_fpm(m, out).has_value() && wire::admit(out).has_value();
        });
}

}  // namespace dynaplan::bench
