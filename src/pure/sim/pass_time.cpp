#include "sim/pass_time.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dynaplan::sim {

namespace {

// The piece of a rising list that holds x: the index of its left end, and how far x lies along it (outside
// 0..1 beyond the ends).
struct Piece {
    std::size_t left = 0;
    double along = 0.0;
};

template <class List, class XOf>
Piece piece_of(const List& list, double x, XOf x_of) {
    std::size_t left = 0;
    while (left + 2 < list.size() && x >= x_of(list[left + 1])) ++left;
    const double a = x_of(list[left]);
    const double b = x_of(list[left + 1]);
    return {left, (x - a) / (b - a)};
}

bool usable(Seconds s) { return std::isfinite(s.count()); }

bool rising(const Curve& curve) {
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        if (!std::isfinite(curve.points[i].x) || !usable(curve.points[i].y)) return false;
        if (i > 0 && !(curve.points[i].x > curve.points[i - 1].x)) return false;
    }
    return true;
}

}  // namespace

Seconds Curve::at(double x) const {
    if (points.empty()) return Seconds{0.0};
    if (points.size() == 1) return points.front().y;
    const Piece p = piece_of(points, x, [](const Point& q) { return q.x; });
    return points[p.left].y + p.along * (points[p.left + 1].y - points[p.left].y);
}

Seconds DecodeTable::at(double requests, double kv_tokens) const {
    if (rows.empty()) return Seconds{0.0};
    if (rows.size() == 1) return rows.front().over_kv.at(kv_tokens);
    const Piece p = piece_of(rows, requests, [](const Row& r) { return r.requests; });
    const Seconds low = rows[p.left].over_kv.at(kv_tokens);
    const Seconds high = rows[p.left + 1].over_kv.at(kv_tokens);
    return low + p.along * (high - low);
}

Seconds PassTime::of(const Work& w) const {
    const auto tokens = static_cast<double>(w.prefill_tokens);
    const auto requests = static_cast<double>(w.decode_requests);
    const auto kv = static_cast<double>(w.decode_kv_tokens);
    Seconds time = affine.base;
    if (w.prefill_tokens > 0)
        time += prefill.empty() ? tokens * affine.per_prefill_token : prefill.at(tokens);
    if (w.decode_requests > 0) {
        time += decode.empty() ? requests * affine.per_decode_request + kv * affine.per_kv_token
                               : decode.at(requests, kv);
    }
    return std::max(time, shortest);
}

std::vector<std::string> problems(const PassTime& p) {
    std::vector<std::string> found;
    for (const Seconds s :
         {p.affine.base, p.affine.per_prefill_token, p.affine.per_decode_request, p.affine.per_kv_token}) {
        if (!usable(s) || s.count() < 0.0)
            found.emplace_back("pass time: a coefficient is negative or not finite");
    }
    if (!rising(p.prefill))
        found.emplace_back("pass time: the prefill points must be finite and rise in tokens");
    double last = -1.0;
    for (const DecodeTable::Row& row : p.decode.rows) {
        if (row.over_kv.empty() || !rising(row.over_kv)) {
            found.emplace_back("pass time: a decode row must have finite points that rise in KV tokens");
        }
        if (!(row.requests > last)) found.emplace_back("pass time: the decode rows must rise in requests");
        last = row.requests;
    }
    return found;
}

}  // namespace dynaplan::sim
