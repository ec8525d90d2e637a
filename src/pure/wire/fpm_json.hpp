// An FPM as a JSON object: in trace files, in the step protocol and in the journal's readable form. Same
// keys, order, types and defaults as on the wire (proto/fpm.md). Code that already holds a parsed document
// uses wire/fpm_json_dom.hpp (only from .cpp files).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/fpm.hpp"
#include "wire/fpm_error.hpp"

namespace dynaplan::wire {

// Appends the object, compact, every field in wire order, numbers in shortest round-trip form. A float is
// always recognisable as one: 0.0, 262144.0, 1e+20. JSON has no NaN and no infinity: they become null, which
// no reader takes for a number; an admitted FPM holds none.
void append_fpm_json(std::string& out, const Fpm& fpm);

// Appends one float in that form.
void append_json_float(std::string& out, double value);

// Reads one object, as text. Missing fields take the FPM defaults, unknown keys are skipped, of a repeated
// key the last one wins; a float for an integer is refused, also 17.0. Then the rules of admit hold (a
// missing worker_id is an empty one). Keeps its buffers, so that after the first call only a longer worker_id
// or text allocates. Not shared between threads.
class FpmJsonReader {
public:
    FpmJsonReader();
    ~FpmJsonReader();
    FpmJsonReader(FpmJsonReader&&) noexcept;
    FpmJsonReader& operator=(FpmJsonReader&&) noexcept;

    FpmResult read(std::string_view text, Fpm& out);

private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace dynaplan::wire
