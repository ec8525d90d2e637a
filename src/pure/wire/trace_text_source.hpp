// The text of a trace file from its bytes, plain or gzip, told apart by the first two. After damage it goes
// on at the next gzip member that it finds, and says that the text was broken there. Internal to TraceReader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/fpm_trace_reader.hpp"
#include "wire/gzip.hpp"

namespace dynaplan::wire {

class TraceTextSource {
public:
    enum class Got : std::uint8_t {
        text,         // something was appended
        need_more,    // feed, or finish
        end,          // there is no more
        line_ends,    // the text before and the text after are not one line; what came before is sound
        line_broken,  // the same, and the last incomplete line before is not to be used
    };

    explicit TraceTextSource(const TraceReaderLimits& limits)
        : expansion_max_{limits.expansion_max}, expansion_free_bytes_{limits.expansion_free_bytes} {}

    void feed(std::string_view bytes);
    void finish() { finished_ = true; }
    Got read(std::string& text);

    [[nodiscard]] bool compressed() const { return form_ == Form::gzip; }
    // Damage found by the last call of read(), once.
    std::optional<TraceDamage> take_damage();

private:
    enum class Form : std::uint8_t { unknown, plain, gzip };
    enum class Phase : std::uint8_t { member_start, inside, searching, done };

    [[nodiscard]] std::size_t available() const { return bytes_.size() - at_; }
    [[nodiscard]] std::uint64_t offset() const { return first_offset_ + at_; }
    [[nodiscard]] Got wait_or_end() const { return finished_ ? Got::end : Got::need_more; }

    bool find_form();
    Got read_plain(std::string& text);
    Got read_gzip(std::string& text);
    std::optional<Got> start_member();
    std::optional<Got> inflate(std::string& text);
    std::optional<Got> search();
    void after_inflate(GzipInflater::Status status);
    void go_back_after_bad_member();
    void break_line(TraceDamageKind kind, std::uint64_t at, Phase next);

    std::uint64_t expansion_max_;
    std::uint64_t expansion_free_bytes_;

    std::string bytes_;               // fed; before at_ used, but perhaps wanted again
    std::size_t at_ = 0;              // the next byte to use
    std::uint64_t first_offset_ = 0;  // of bytes_[0] in the file
    bool finished_ = false;

    Form form_ = Form::unknown;
    Phase phase_ = Phase::member_start;
    GzipInflater inflater_;
    std::uint64_t member_offset_ = 0;
    std::uint64_t text_bytes_ = 0;      // given so far
    std::uint64_t searched_again_ = 0;  // bytes that were used and then searched once more
    bool line_broken_ = false;          // to be told with the next call
    std::optional<TraceDamage> damage_;
};

}  // namespace dynaplan::wire
