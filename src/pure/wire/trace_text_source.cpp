#include "wire/trace_text_source.hpp"

#include <algorithm>

namespace dynaplan::wire {

namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10U;
// Compressed bytes of the current member that are kept, so that a search after damage does not miss the
// members that a misread one has swallowed. Dynamo's members are 1 MiB of text, which gives some 100 KiB.
constexpr std::size_t kept_bytes = std::size_t{4} << 20U;
// Going back must not make a hostile file cost more than a few passes over it.
constexpr std::uint64_t searched_again_free = std::uint64_t{16} << 20U;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t member_header_bytes = 10;

unsigned char byte_at(std::string_view bytes, std::size_t i) { return static_cast<unsigned char>(bytes[i]); }

// Stricter than a reader at a place where a member is expected: magic, deflate, no reserved flag, a known
// hint and operating system (RFC 1952, 2.3), so that compressed data hardly ever looks like it by chance.
bool looks_like_member(std::string_view bytes) {
    if (byte_at(bytes, 0) != 0x1f || byte_at(bytes, 1) != 0x8b || byte_at(bytes, 2) != 8) return false;
    const unsigned char flags = byte_at(bytes, 3);
    const unsigned char hint = byte_at(bytes, 8);
    const unsigned char system = byte_at(bytes, 9);
    return (flags & 0xe0U) == 0 && (hint == 0 || hint == 2 || hint == 4) && (system <= 13 || system == 255);
}

}  // namespace

void TraceTextSource::feed(std::string_view bytes) {
    std::size_t keep_from = at_;
    if (phase_ == Phase::inside) {
        const std::size_t member = member_offset_ > first_offset_
                                       ? static_cast<std::size_t>(member_offset_ - first_offset_)
                                       : std::size_t{0};
        keep_from = std::max(member, at_ > kept_bytes ? at_ - kept_bytes : std::size_t{0});
    }
    bytes_.erase(0, keep_from);
    first_offset_ += keep_from;
    at_ -= keep_from;
    bytes_.append(bytes);
}

std::optional<TraceDamage> TraceTextSource::take_damage() {
    const std::optional<TraceDamage> found = damage_;
    damage_.reset();
    return found;
}

TraceTextSource::Got TraceTextSource::read(std::string& text) {
    if (line_broken_) {
        line_broken_ = false;
        return Got::line_broken;
    }
    if (form_ == Form::unknown && !find_form()) return Got::need_more;
    return form_ == Form::plain ? read_plain(text) : read_gzip(text);
}

bool TraceTextSource::find_form() {
    if (available() < byte_order_mark.size() && !finished_) return false;
    const std::string_view start = bytes_;
    if (start.size() >= 2 && byte_at(start, 0) == 0x1f && byte_at(start, 1) == 0x8b) {
        form_ = Form::gzip;
        return true;
    }
    form_ = Form::plain;
    if (start.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
    return true;
}

TraceTextSource::Got TraceTextSource::read_plain(std::string& text) {
    const std::size_t size = std::min(available(), piece_bytes);
    if (size == 0) return wait_or_end();
    text.append(bytes_, at_, size);
    at_ += size;
    return Got::text;
}

TraceTextSource::Got TraceTextSource::read_gzip(std::string& text) {
    for (;;) {
        std::optional<Got> got;
        switch (phase_) {
            case Phase::member_start: got = start_member(); break;
            case Phase::inside: got = inflate(text); break;
            case Phase::searching: got = search(); break;
            case Phase::done: return Got::end;
        }
        if (got) return *got;
    }
}

std::optional<TraceTextSource::Got> TraceTextSource::start_member() {
    if (available() == 0 || (available() == 1 && !finished_)) return wait_or_end();
    const std::string_view rest = std::string_view{bytes_}.substr(at_);
    if (byte_at(rest, 0) == 0x1f && (rest.size() == 1 || byte_at(rest, 1) == 0x8b)) {
        member_offset_ = offset();
        inflater_.begin_member();
        phase_ = Phase::inside;
        return std::nullopt;
    }
    damage_ = TraceDamage{TraceDamageKind::trailing_garbage, offset()};
    phase_ = Phase::searching;
    return Got::line_ends;
}

std::optional<TraceTextSource::Got> TraceTextSource::inflate(std::string& text) {
    if (available() == 0 && !finished_) return Got::need_more;
    const std::size_t before = text.size();
    text.resize(before + piece_bytes);
    const auto progress =
        inflater_.inflate(std::string_view{bytes_}.substr(at_), text.data() + before, piece_bytes);
    text.resize(before + progress.produced);
    at_ += progress.used;
    text_bytes_ += progress.produced;
    after_inflate(progress.status);
    if (progress.produced > 0) return Got::text;
    if (line_broken_) {
        line_broken_ = false;
        return Got::line_broken;
    }
    return std::nullopt;
}

void TraceTextSource::after_inflate(GzipInflater::Status status) {
    const std::uint64_t file_offset = offset();
    if (text_bytes_ > expansion_free_bytes_ && text_bytes_ / expansion_max_ > file_offset) {
        break_line(TraceDamageKind::expansion_limit, member_offset_, Phase::done);
        return;
    }
    switch (status) {
        case GzipInflater::Status::output_full: break;
        case GzipInflater::Status::member_end: phase_ = Phase::member_start; break;
        case GzipInflater::Status::more_input:
            if (finished_ && available() == 0) {
                break_line(TraceDamageKind::cut_member, member_offset_, Phase::done);
            }
            break;
        case GzipInflater::Status::bad_data:
            break_line(TraceDamageKind::bad_member, member_offset_, Phase::searching);
            go_back_after_bad_member();
            break;
    }
}

void TraceTextSource::break_line(TraceDamageKind kind, std::uint64_t at, Phase next) {
    damage_ = TraceDamage{kind, at};
    line_broken_ = true;
    phase_ = next;
}

// A damaged member may have been misread far into the next one: search from its second byte.
void TraceTextSource::go_back_after_bad_member() {
    const std::uint64_t from = std::max(member_offset_ + 1, first_offset_);
    if (from >= offset()) {
        at_ = std::max(at_, static_cast<std::size_t>(from - first_offset_));
        return;
    }
    const std::uint64_t again = offset() - from;
    if (searched_again_ + again > searched_again_free + offset()) return;
    searched_again_ += again;
    at_ = static_cast<std::size_t>(from - first_offset_);
}

std::optional<TraceTextSource::Got> TraceTextSource::search() {
    const std::string_view all = bytes_;
    for (; at_ + member_header_bytes <= all.size(); ++at_) {
        // memchr is much faster than a look at every byte.
        const std::size_t candidate = all.find('\x1f', at_);
        if (candidate == std::string_view::npos) {
            at_ = all.size();
            break;
        }
        at_ = candidate;
        if (at_ + member_header_bytes > all.size()) break;
        if (looks_like_member(all.substr(at_))) {
            phase_ = Phase::member_start;
            return std::nullopt;
        }
    }
    if (finished_) at_ = all.size();
    return wait_or_end();
}

}  // namespace dynaplan::wire
