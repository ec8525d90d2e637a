// zlib behind two small functions in memory: gzip members out, and a stream of members in. Bytes that are not
// gzip are an answer, not an exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dynaplan::wire {

// One complete gzip member with the text in it; level 1 (fast) to 9 (small). The header carries no time and
// no name, so that equal text gives equal bytes.
std::string gzip_member(std::string_view text, int level = 6);

// Inflates one gzip member, in pieces.
class GzipInflater {
public:
    enum class Status : std::uint8_t {
        more_input,   // the input is used up, the member is not at its end
        output_full,  // call again with room for more
        member_end,   // the member is complete and its checksum and length are right
        bad_data,     // not gzip, or damaged
    };
    struct Progress {
        Status status{};
        std::size_t used = 0;      // bytes of the input
        std::size_t produced = 0;  // bytes of the output
    };

    GzipInflater();
    ~GzipInflater();
    GzipInflater(GzipInflater&&) noexcept;
    GzipInflater& operator=(GzipInflater&&) noexcept;

    void begin_member();  // also after an error
    Progress inflate(std::string_view input, char* output, std::size_t room);

private:
    struct Stream;
    std::unique_ptr<Stream> stream_;
};

// All members of `bytes` as one text, for small files and tests; nothing when the bytes are not sound gzip
// throughout or the text would be longer than `limit`.
std::optional<std::string> gunzip(std::string_view bytes, std::size_t limit);

}  // namespace dynaplan::wire
