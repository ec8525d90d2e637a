#include "wire/endpoint_name.hpp"

#include <algorithm>
#include <array>

#include "wire/json_nearest.hpp"

namespace dynaplan::wire {

namespace {

struct Row {
    std::string_view backend;
    PerRole<BackendNames> april;
    PerRole<BackendNames> august;
};

constexpr PerRole<BackendNames> plain{{"prefill", "prefill", "generate"}, {"decode", "backend", "generate"}};
constexpr PerRole<BackendNames> vllm{{"VllmPrefillWorker", "prefill", "generate"},
                                     {"VllmDecodeWorker", "backend", "generate"}};
constexpr PerRole<BackendNames> trtllm_april{{"TRTLLMPrefillWorker", "prefill", "generate"},
                                             {"TRTLLMDecodeWorker", "tensorrt_llm", "generate"}};

constexpr std::array<Row, 4> rows{{{"vllm", vllm, vllm},
                                   {"sglang", plain, plain},
                                   {"trtllm", trtllm_april, plain},
                                   {"mocker", plain, plain}}};

}  // namespace

Result<EndpointName> parse_endpoint_name(std::string_view text) {
    const auto wrong = [&] {
        return failure("endpoint " + in_quotes(text) + ": expected namespace.component.endpoint");
    };
    const std::size_t first = text.find('.');
    if (first == std::string_view::npos) return wrong();
    const std::size_t second = text.find('.', first + 1);
    if (second == std::string_view::npos) return wrong();
    EndpointName name{std::string{text.substr(0, first)},
                      std::string{text.substr(first + 1, second - first - 1)},
                      std::string{text.substr(second + 1)}};
    if (name.name_space.empty() || name.component.empty() || name.endpoint.empty() ||
        name.endpoint.find('.') != std::string::npos) {
        return wrong();
    }
    return name;
}

std::optional<BackendNames> backend_names(std::string_view backend, Role role, Era era) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.backend == backend; });
    if (row == rows.end()) return std::nullopt;
    return (era == Era::april ? row->april : row->august)[role];
}

}  // namespace dynaplan::wire
