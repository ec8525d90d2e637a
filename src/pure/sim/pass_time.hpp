// How long a forward pass takes on a simulated engine: affine, or read from tables of measured points.
// Seconds throughout; tokens and requests are those of one pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace dynaplan::sim {

struct Work {
    std::int64_t prefill_tokens = 0;  // computed in this pass
    std::int64_t decode_requests = 0;
    std::int64_t decode_kv_tokens = 0;  // context read, summed over decode requests
};

// time = base + per_prefill_token x tokens + per_decode_request x requests + per_kv_token x KV tokens.
// The defaults are round numbers near those of an 8B model on one large GPU: 34,000 prompt tokens/s, and 50
// ms a decode pass when the KV cache (400,000 tokens) is full.
struct AffineTime {
    Seconds base{0.006};
    Seconds per_prefill_token{2.9e-5};
    Seconds per_decode_request{2e-5};
    Seconds per_kv_token{1e-7};
};

// Measured points, x rising strictly: linear between them, the end pieces go on beyond the ends.
struct Curve {
    struct Point {
        double x = 0.0;
        Seconds y{0.0};
    };
    std::vector<Point> points;
    [[nodiscard]] bool empty() const { return points.empty(); }
    [[nodiscard]] Seconds at(double x) const;
};

// A grid of decode pass times: for each number of requests a curve over KV tokens, requests rising strictly.
struct DecodeTable {
    struct Row {
        double requests = 0.0;
        Curve over_kv;
    };
    std::vector<Row> rows;
    [[nodiscard]] bool empty() const { return rows.empty(); }
    [[nodiscard]] Seconds at(double requests, double kv_tokens) const;
};

// A table, where given, replaces the terms of its kind of work: the prefill curve the per-token term, the
// decode table the per-request and per-KV terms. The base is added either way.
struct PassTime {
    AffineTime affine;
    Curve prefill;
    DecodeTable decode;
    // Never below `shortest`: no engine returns from a pass in no time.
    [[nodiscard]] Seconds of(const Work&) const;
    static constexpr Seconds shortest{1e-4};
};

// What is wrong with it, one line each; empty when it can be used.
std::vector<std::string> problems(const PassTime&);

}  // namespace dynaplan::sim
