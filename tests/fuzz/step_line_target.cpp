#include <cmath>

#include "fuzz/one_line.hpp"
#include "fuzz/targets.hpp"
#include "wire/fpm_admit.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::fuzz {

namespace {

using namespace wire;

std::string outcome_of(const Result<StepLine>& line, const Event& event) {
    if (!line) return "refused: " + line.error().message;
    if (line->fpm_refused) return "fpm refused: " + std::string{to_string(*line->fpm_refused)};
    std::string written;
    append_event_json(written, event);
    return written;
}

bool inside(std::string_view part, std::string_view whole) {
    return part.empty() ||
           (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

std::string try_step_line(std::string_view line) {
    if (!inside(scenario_line(line).text, line)) return "the scenario line is not a part of the line";

    Event event;
    StepLineParser parser;
    const auto parsed = parser.parse(line, event);
    const std::string outcome = outcome_of(parsed, event);

    // What the parser and the event hold from another line must not shine through.
    Event used;
    for (const std::string_view earlier :
         {R"({"t":1,"event":"fpm","role":"prefill","fpm":{"worker_id":"a long name of a worker","dp_rank":3,
             "scheduled_requests":{"num_prefill_requests":9}}})",
          R"({"t":1,"event":"config","set":{"itl":5.0,"policy":{"trigger":"tick"}}})",
          R"({"t":1,"event":"engine_joined","role":"agg","worker_id":"7","capabilities":{"num_gpu":4}})"}) {
        static_cast<void>(parser.parse(earlier, used));
        const std::string again = outcome_of(parser.parse(line, used), used);
        if (again != outcome) return "after another line:\n" + again + "\nalone:\n" + outcome;
    }

    if (!parsed) return one_line_problem(parsed.error().message);
    if (!std::isfinite(seconds_of(event.at)) || event.at != parsed->at) return "a time that is none";
    if (parsed->fpm_refused) return "";
    if (const auto* fpm = std::get_if<FpmArrived>(&event.body); fpm != nullptr && !admit_values(fpm->fpm, 0))
        return "a report was read that admit refuses";
    Event back;
    const std::string second = outcome_of(parser.parse(outcome, back), back);
    return second == outcome ? "" : "what was written:\n" + outcome + "\nreads as:\n" + second;
}

}  // namespace dynaplan::fuzz
