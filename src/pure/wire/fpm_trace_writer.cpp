#include "wire/fpm_trace_writer.hpp"

#include "wire/fpm_admit.hpp"
#include "wire/gzip.hpp"

namespace dynaplan::wire {

FpmResult TraceWriter::append(const TraceRecord& record) {
    if (record.fpm.version != 1) return tl::unexpected{FpmError::unsupported_version};
    if (const FpmResult admitted = admit_values(record.fpm, 0); !admitted) return admitted;
    append_trace_line(text_, record);
    return {};
}

std::string TraceWriter::take_member() {
    if (text_.empty()) return {};
    std::string member = gzip_member(text_);
    text_.clear();
    return member;
}

}  // namespace dynaplan::wire
