#include "wire/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "core/assert.hpp"

namespace dynaplan::wire {

namespace {

constexpr int gzip_window_bits = 15 + 16;  // zlib: the largest window, gzip header and trailer
constexpr std::size_t piece_max = std::numeric_limits<uInt>::max();

Bytef* bytes_of(std::string_view text) {
    // zlib promises not to write through next_in.
    return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string gzip_member(std::string_view text, int level) {
    z_stream stream{};
    constexpr int memory_level = 8;  // zlib's default
    const int begun =
        deflateInit2(&stream, level, Z_DEFLATED, gzip_window_bits, memory_level, Z_DEFAULT_STRATEGY);
    DYNAPLAN_ASSERT(begun == Z_OK);  // otherwise out of memory, or a level of our own making
    std::string out;
    out.resize(deflateBound(&stream, static_cast<uLong>(text.size())));
    std::size_t read = 0;
    std::size_t written = 0;
    int status = Z_OK;
    while (status != Z_STREAM_END) {
        const std::size_t piece = std::min(text.size() - read, piece_max);
        const std::size_t room = std::min(out.size() - written, piece_max);
        stream.next_in = bytes_of(text.substr(read));
        stream.avail_in = static_cast<uInt>(piece);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
        stream.avail_out = static_cast<uInt>(room);
        status = deflate(&stream, read + piece == text.size() ? Z_FINISH : Z_NO_FLUSH);
        DYNAPLAN_ASSERT(status == Z_OK || status == Z_STREAM_END);
        read += piece - stream.avail_in;
        written += room - stream.avail_out;
    }
    deflateEnd(&stream);
    out.resize(written);
    return out;
}

struct GzipInflater::Stream {
    z_stream z{};
    Stream() {
        const int begun = inflateInit2(&z, gzip_window_bits);
        DYNAPLAN_ASSERT(begun == Z_OK);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { inflateEnd(&z); }
};

GzipInflater::GzipInflater() : stream_{std::make_unique<Stream>()} {}
GzipInflater::~GzipInflater() = default;
GzipInflater::GzipInflater(GzipInflater&&) noexcept = default;
GzipInflater& GzipInflater::operator=(GzipInflater&&) noexcept = default;

void GzipInflater::begin_member() { inflateReset(&stream_->z); }

GzipInflater::Progress GzipInflater::inflate(std::string_view input, char* output, std::size_t room) {
    z_stream& z = stream_->z;
    const std::size_t piece = std::min(input.size(), piece_max);
    room = std::min(room, piece_max);
    z.next_in = bytes_of(input);
    z.avail_in = static_cast<uInt>(piece);
    z.next_out = reinterpret_cast<Bytef*>(output);
    z.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&z, Z_NO_FLUSH);
    Progress progress;
    progress.used = piece - z.avail_in;
    progress.produced = room - z.avail_out;
    if (status == Z_STREAM_END) {
        progress.status = Status::member_end;
    } else if (status == Z_OK || status == Z_BUF_ERROR) {  // the second: no progress was possible
        progress.status = z.avail_out == 0 ? Status::output_full : Status::more_input;
    } else {
        progress.status = Status::bad_data;
    }
    return progress;
}

std::optional<std::string> gunzip(std::string_view bytes, std::size_t limit) {
    constexpr std::size_t piece = std::size_t{64} << 10U;
    GzipInflater inflater;
    std::string text;
    while (!bytes.empty()) {
        inflater.begin_member();
        for (bool inside = true; inside;) {
            const std::size_t before = text.size();
            text.resize(before + piece);
            const auto progress = inflater.inflate(bytes, text.data() + before, piece);
            text.resize(before + progress.produced);
            bytes.remove_prefix(progress.used);
            if (text.size() > limit) return std::nullopt;
            if (progress.status == GzipInflater::Status::bad_data) return std::nullopt;
            if (progress.status == GzipInflater::Status::more_input && bytes.empty()) return std::nullopt;
            inside = progress.status != GzipInflater::Status::member_end;
        }
    }
    return text;
}

}  // namespace dynaplan::wire
