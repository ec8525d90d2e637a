// `decisions show`, `complete` and `fail`: one question, one answer.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "app/command_decisions_source.hpp"

namespace dynaplan::app {

// `done` gets the exit code.
using OnceDone = std::function<void(int exit_code)>;

struct ShowOptions {
    std::optional<DecisionId> id;  // empty: the newest
    bool all = false;
    bool json = false;
};
void show_decisions(DecisionSource&, const ShowOptions&, OnceDone done);

struct SettleOptions {
    DecisionId id = -1;
    bool completed = true;
    std::chrono::milliseconds timeout{30'000};  // for a planner that answers "not now"
    bool json = false;
};
// Asks again while the planner stands by or cannot write; the loop and the source must outlive it.
void settle_decision(boost::asio::io_context&, DecisionSource&, const SettleOptions&, OnceDone done);

}  // namespace dynaplan::app
