// The last value is the forecast (specification, traffic and profiles 4.2). log1p does not concern it.
#pragma once

#include "forecast/predictor.hpp"

namespace dynaplan::forecast {

class Constant final : public Predictor {
public:
    using Predictor::Predictor;

private:
    void take(double) override {}
    Result<double> forecast() override { return last_value(); }
    void archive_own(StateWriter&) override {}
    void archive_own(StateReader&) override {}
};

}  // namespace dynaplan::forecast
