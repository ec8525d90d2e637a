// build/tests/bus_bench: messages a second from a bus to the updated model, against a loop that only
// receives, in the same run, turn by turn. Figures are kept in docs/performance.md; nothing here passes or
// fails by time.
// --quick does little, to see that it works.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "bench/bus_rates.hpp"
#include "support/server_process.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace dynaplan;
using namespace dynaplan::bench;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return (values[(n - 1) / 2] + values[n / 2]) / 2.0;
}

void compare(std::string_view name, int passes, const std::function<double()>& bare,
             const std::function<double()>& to_model) {
    std::vector<double> bare_rates;
    std::vector<double> model_rates;
    std::vector<double> ratios;
    for (int i = 0; i < passes; ++i) {
        bare_rates.push_back(bare());
        model_rates.push_back(to_model());
        ratios.push_back(model_rates.back() / bare_rates.back());
    }
    constexpr double million = 1e6;
    fmt::print(
        "{:<38} bare {:.3f} M/s, to model {:.3f} M/s: {:.0f} % (pairs {:.0f} to {:.0f} %, target 80 %)\n",
        name, median(bare_rates) / million, median(model_rates) / million,
        100.0 * median(model_rates) / median(bare_rates),
        100.0 * *std::min_element(ratios.begin(), ratios.end()),
        100.0 * *std::max_element(ratios.begin(), ratios.end()));
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const bool quick = argc == 2 && std::string_view{argv[1]} == "--quick";
    if (argc > 1 && !quick) {
        fmt::print(stderr, "usage: bus_bench [--quick]\n");
        return 2;
    }
    // The helper that starts servers speaks as in a test.
    doctest::Context context;
    context.setAsDefaultForAssertsOutOfTestCases();
    context.setAssertHandler([](const doctest::AssertData& assertion) {
        if (!assertion.m_failed) return;
        fmt::print(stderr, "{}:{}: {}\n", assertion.m_file, assertion.m_line, assertion.m_expr);
        std::exit(1);
    });

    const std::vector<BusReport> reports = bus_reports();
    const std::int64_t messages = quick ? 20'000 : 600'000;
    const int passes = quick ? 1 : 5;
    compare(
        "ZeroMQ, 4 frames, tcp", passes, [&] { return zmq_bare(reports, messages); },
        [&] { return zmq_to_model(reports, messages); });

    const auto program = support::program_or_skip("nats-server");
    if (!program) return 0;
    const support::TempFolder folder;
    support::ServerProcess server{[&](std::span<const unsigned short> ports) {
                                      return std::vector<std::string>{*program, "--addr", "127.0.0.1",
                                                                      "--port", std::to_string(ports[0])};
                                  },
                                  1, folder / "log"};
    const std::string address = "nats://127.0.0.1:" + std::to_string(server.port());
    compare(
        "NATS", passes, [&] { return nats_bare(address, reports, messages); },
        [&] { return nats_to_model(address, reports, messages); });
    return 0;
}
