// The packed form of an FPM's numbers in the journal: what follows the engine's index. Every value survives
// to the last bit, negative zeros and numbers that admission would refuse included.
//
//     flags u8, counter_id varint, then in this order what the flags announce:
//     0x01  version varint (absent: 1)
//     0x02  wall_time f64 (absent: 0)
//     0x04  scheduled counts, five varints: num_prefill_requests, sum_prefill_tokens, sum_prefill_kv_tokens,
//           num_decode_requests, sum_decode_kv_tokens (absent: all 0)
//     0x08  scheduled var_prefill_length f64      0x10  scheduled var_decode_kv_tokens f64
//     0x20  queued counts, four varints: num_prefill_requests, sum_prefill_tokens, num_decode_requests,
//           sum_decode_kv_tokens
//     0x40  queued var_prefill_length f64         0x80  queued var_decode_kv_tokens f64
//
// A count is the varint of its 64 bits, so that a negative one takes ten bytes.
#pragma once

#include <string>

#include "core/fpm.hpp"
#include "wire/journal_bytes.hpp"

namespace dynaplan::wire {

void pack_fpm(std::string& out, const Fpm&);
// Sets everything of `out` but the engine's name. What the bytes lack shows in the cursor.
void unpack_fpm(ByteCursor&, Fpm& out);

}  // namespace dynaplan::wire
