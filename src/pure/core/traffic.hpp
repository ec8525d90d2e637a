// Traffic over one window, as the frontend's metrics or a log tell it.
#pragma once

#include <optional>

#include "core/units.hpp"

namespace dynaplan {

struct Traffic {
    Seconds duration{0.0};
    double num_req = 0.0;               // arrivals in the window
    double isl = 0.0;                   // mean input length, tokens
    double osl = 0.0;                   // mean output length, tokens
    std::optional<double> kv_hit_rate;  // 0..1
    std::optional<Millis> ttft;         // observed means; not used for decisions
    std::optional<Millis> itl;
    template <class Archive>
    void archive(Archive& a) {
        a(duration, num_req, isl, osl, kv_hit_rate, ttft, itl);
    }
};

}  // namespace dynaplan
