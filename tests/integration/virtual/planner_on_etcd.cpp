// The planner's side of the contract, as a program: `planner_on_etcd URL NAMESPACE`. It leads, restores what
// the store holds and says "ready". Each line "PREFILL DECODE" on its standard input is a proposal; each
// event of the coordinator is a line on its standard output: "published ID", "refused REASON", "outcome ID
// OUTCOME", "restored ID PREFILL DECODE STATE" (an absent count reads -). It ends with its input, and
// releases the leadership.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <chrono>
#include <cstdio>
#include <istream>
#include <optional>
#include <string>
#include <variant>

#include <unistd.h>

#include "connector/etcd_leader.hpp"
#include "connector/etcd_store.hpp"
#include "decision/coordinator.hpp"

namespace {

using namespace dynaplan;
namespace asio = boost::asio;

class Planner {
public:
    Planner(asio::io_context& loop, const std::string& url, const std::string& name_space)
        : loop_{loop},
          client_{*net::EtcdClient::create(loop, options_for(url))},
          leader_{loop, client_, leader_options(name_space), [] { return 0.0; }, leader_callbacks()},
          store_{loop, client_, store_options(name_space), [] { return 0.0; }, store_callbacks()},
          coordinator_{store_},
          input_{loop, ::dup(STDIN_FILENO)} {
        store_.start();
        leader_.start();
    }

private:
    static net::EtcdOptions options_for(const std::string& url) {
        net::EtcdOptions options;
        options.endpoints = {url};
        return options;
    }
    static connector::EtcdLeaderOptions leader_options(const std::string& name_space) {
        connector::EtcdLeaderOptions options;
        options.name_space = name_space;
        options.identity = "pid " + std::to_string(::getpid());
        return options;
    }
    connector::EtcdStoreOptions store_options(const std::string& name_space) {
        connector::EtcdStoreOptions options;
        options.name_space = name_space;
        options.fence = [this] { return leader_.fence(); };
        return options;
    }
    connector::EtcdLeader::Callbacks leader_callbacks() {
        return {[this](bool leads, const std::string& why) {
                    if (!leads) return say("deposed " + why);
                    tell(coordinator_.restore(now(), wall_ms()));
                },
                [this](const std::string& what) { say("trouble " + what); }};
    }
    connector::EtcdStore::Callbacks store_callbacks() {
        return {
            [this](const port::ReadAnswer& answer) {
                tell(coordinator_.read_answered(answer, now()));
                if (!coordinator_.restored() || reading_) return;
                reading_ = true;
                say("ready");
                read_line();
            },
            [this](const port::CommitAnswer& answer) { tell(coordinator_.commit_answered(answer, now())); },
            [this](const port::StoredState& state) { tell(coordinator_.observe(state, now(), wall_ms())); },
            [this](const std::string& why) {
                if (!why.empty()) say("trouble " + why);
            },
            [this] { leader_.deposed(); }};
    }

    void read_line() {
        asio::async_read_until(input_, buffer_, '\n',
                               [this](const boost::system::error_code& error, std::size_t) {
                                   if (error) {
                                       leader_.release(std::chrono::seconds{2}, [this] { loop_.stop(); });
                                       return;
                                   }
                                   std::istream text{&buffer_};
                                   std::int64_t prefill = 0;
                                   std::int64_t decode = 0;
                                   text >> prefill >> decode;
                                   text.ignore();
                                   ScaleTo want;
                                   want.proposal = proposals_++;
                                   want.prefill = Replicas{prefill};
                                   want.decode = Replicas{decode};
                                   want.reason = Reason::scale_up;
                                   if (store_.stale()) coordinator_.doubt();
                                   tell(coordinator_.propose(want, now(), wall_ms()));
                                   read_line();
                               });
    }

    void tell(const decision::Events& events) {
        const auto count = [](const std::optional<Replicas>& n) {
            return n ? std::to_string(n->count()) : "-";
        };
        for (const Event& event : events) {
            if (const auto* published = std::get_if<DecisionPublished>(&event.body)) {
                say("published " + std::to_string(published->decision_id));
            } else if (const auto* refused = std::get_if<DecisionRefused>(&event.body)) {
                say("refused " + std::string{to_string(refused->reason)});
            } else if (const auto* outcome = std::get_if<DecisionOutcome>(&event.body)) {
                say("outcome " + std::to_string(outcome->decision_id) + " " +
                    std::string{to_string(outcome->outcome)});
            } else if (const auto* restored = std::get_if<DecisionRestored>(&event.body)) {
                say("restored " + std::to_string(restored->decision_id) + " " + count(restored->prefill) +
                    " " + count(restored->decode) + " " + std::string{to_string(restored->state)});
            }
        }
    }
    static void say(const std::string& line) {
        std::fputs((line + "\n").c_str(), stdout);
        std::fflush(stdout);
    }
    static TimePoint now() { return TimePoint{Seconds{std::chrono::steady_clock::now().time_since_epoch()}}; }
    static std::int64_t wall_ms() {
        return std::chrono::duration_cast<std::chrono::milliseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }

    asio::io_context& loop_;
    net::EtcdClient client_;
    connector::EtcdLeader leader_;
    connector::EtcdStore store_;
    decision::Coordinator coordinator_;
    asio::posix::stream_descriptor input_;
    asio::streambuf buffer_;
    ProposalId proposals_ = 0;
    bool reading_ = false;
};

}  // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::fputs("usage: planner_on_etcd URL NAMESPACE\n", stderr);
        return 2;
    }
    boost::asio::io_context loop;
    Planner planner{loop, words[1], words[2]};
    loop.run();
    return 0;
}
