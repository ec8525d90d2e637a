// Metrics as Prometheus reads them. Families are filled anew for each scrape from what the loop knows then,
// so that no number is kept in two places; names and help are the caller's, the text format is
// prometheus-cpp's.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dynaplan::observe {

class Exposition {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    Exposition();
    ~Exposition();
    Exposition(const Exposition&) = delete;
    Exposition& operator=(const Exposition&) = delete;

    // Begins a family; the samples that follow belong to it. A counter's name ends in _total.
    void counter(std::string_view name, std::string_view help);
    void gauge(std::string_view name, std::string_view help);
    void sample(double value, Labels labels = {});
    // A family of one histogram. `counts`: of the values up to each bound, not added up, and at the end of
    // those beyond the last: one more than there are bounds.
    void histogram(std::string_view name, std::string_view help, std::span<const double> bounds,
                   std::span<const std::uint64_t> counts, double sum);

    [[nodiscard]] std::string text() const;

private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace dynaplan::observe
