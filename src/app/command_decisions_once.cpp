#include "app/command_decisions_once.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "app/command_decisions_exit.hpp"
#include "app/command_decisions_text.hpp"

namespace dynaplan::app {

namespace {

using std::chrono::milliseconds;

// Between two attempts at a planner that stands by: a take-over takes seconds.
constexpr milliseconds attempt_pause{250};

int told(const std::string& why) {
    say(why);
    return decisions_exit::failed;
}

int shown(const SeenDecision& decision, bool json) {
    return print(decision, json) ? decisions_exit::done : told("standard output cannot be written");
}

class Settling : public std::enable_shared_from_this<Settling> {
public:
    Settling(boost::asio::io_context& loop, DecisionSource& source, const SettleOptions& options,
             OnceDone done)
        : source_{source}, options_{options}, timer_{loop}, done_{std::move(done)} {
        deadline_ = Clock::now() + options_.timeout;
    }

    void attempt() {
        source_.settle(options_.id, options_.completed,
                       [self = shared_from_this()](const Answer<SeenDecision>& settled) {
                           if (settled) return self->done_(shown(*settled, self->options_.json));
                           const bool unreachable = settled.error().kind == Trouble::Kind::unreachable;
                           // Nobody there at the very first is a wrong address more often than a restart.
                           if (!settled.error().may_pass() || (unreachable && !self->answered_))
                               return self->done_(told(settled.error().message));
                           self->answered_ = true;
                           self->again(settled.error());
                       });
    }

private:
    using Clock = std::chrono::steady_clock;

    void again(const Trouble& trouble) {
        const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
        if (left <= milliseconds{0}) {
            say(trouble.message);
            return done_(decisions_exit::time_over);
        }
        timer_.expires_after(std::min(left, attempt_pause));
        timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
            if (!error) self->attempt();
        });
    }

    DecisionSource& source_;
    SettleOptions options_;
    boost::asio::steady_timer timer_;
    Clock::time_point deadline_;
    OnceDone done_;
    bool answered_ = false;
};

}  // namespace

void show_decisions(DecisionSource& source, const ShowOptions& options, OnceDone done) {
    const bool json = options.json;
    if (options.all) {
        return source.all([json, done = std::move(done)](const Answer<std::vector<SeenDecision>>& all) {
            if (!all) return done(told(all.error().message));
            int code = decisions_exit::done;
            for (const SeenDecision& decision : *all) {
                if (code == decisions_exit::done) code = shown(decision, json);
            }
            done(code);
        });
    }
    if (options.id) {
        return source.find(*options.id, [json, id = *options.id, done = std::move(done)](
                                            const Answer<std::optional<SeenDecision>>& found) {
            if (!found) return done(told(found.error().message));
            if (!*found)
                return done(told("decision " + std::to_string(id) + " is not known, or too old to be kept"));
            done(shown(**found, json));
        });
    }
    source.standing([json, done = std::move(done)](const Answer<Standing>& standing) {
        if (!standing) return done(told(standing.error().message));
        if (!standing->newest) return done(told("no decision has been published yet"));
        done(shown(*standing->newest, json));
    });
}

void settle_decision(boost::asio::io_context& loop, DecisionSource& source, const SettleOptions& options,
                     OnceDone done) {
    std::make_shared<Settling>(loop, source, options, std::move(done))->attempt();
}

}  // namespace dynaplan::app
