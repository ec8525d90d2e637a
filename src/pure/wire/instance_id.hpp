// One id, three spellings (event-plane specification 7.4): decimal text in a report's worker_id, a JSON
// integer in a record, lower-case hex without padding in a discovery key. Always 64 bits, never a double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dynaplan::wire {

std::string hex_of_id(std::uint64_t id);
std::string worker_id_of(std::uint64_t id);  // decimal

// 1 to 16 hex digits of either case; nothing for anything else.
std::optional<std::uint64_t> id_from_hex(std::string_view hex);

// The id under which a Kubernetes worker registers: SipHash-1-3 with a zero key over the resource's name and
// one byte 0xff, its low 53 bits (7.8). Prefer the id in the records where there are any.
std::uint64_t kube_instance_id(std::string_view resource_name);

}  // namespace dynaplan::wire
