// Journals: verified, or replayed under another configuration.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <variant>

#include "app/command_replay_job.hpp"
#include "core/config_field.hpp"
#include "replay/event_feed.hpp"
#include "replay/journal_player.hpp"
#include "wire/journal_reader.hpp"

namespace dynaplan::app {

namespace {

using Clock = std::chrono::steady_clock;

// A segment is 256 MB by default; one that is larger than this was not written by us.
constexpr std::uint64_t segment_bytes_max = std::uint64_t{8} << 30U;
constexpr std::size_t records_between_looks = 65'536;

struct Segment {
    std::size_t input = 0;
    std::uint64_t number = 0;
};

// By the number in the header; a file that has none readable comes last and is reported when it is opened.
std::vector<Segment> in_order(ReplayJob& job) {
    std::vector<Segment> segments;
    for (std::size_t i = 0; i < job.inputs.size(); ++i) {
        std::uint64_t number = UINT64_MAX;
        if (const auto reader = wire::JournalReader::open(job.inputs[i].head()))
            number = reader->header().segment;
        segments.push_back({i, number});
    }
    std::stable_sort(segments.begin(), segments.end(),
                     [](const Segment& a, const Segment& b) { return a.number < b.number; });
    return segments;
}

void count_engines(ReplayJob& job, const plan::Planner& planner) {
    job.mode = planner.config().mode;
    job.preset = preset_name(planner.config().preset);
    for (const Role role : all_roles)
        job.engines[role] = static_cast<std::int64_t>(planner.engines().known(role));
}

void play_segment(ReplayJob& job, const InputFile& input, std::string_view bytes,
                  replay::JournalPlayer& player, Progress& progress) {
    using Status = replay::JournalPlayer::Status;
    if (const auto opened = player.open(bytes); !opened)
        return job.problem(input.path() + ": " + opened.error().message);
    Status status = Status::more;
    while (status == Status::more && !interrupted()) {
        status = player.play(records_between_looks);
        progress.show("replaying " + input.path(), player.offset(), bytes.size());
    }
    for (std::string& remark : player.take_remarks())
        job.warnings.push_back(input.path() + ": " + std::move(remark));
    if (status == Status::torn) job.warnings.push_back(input.path() + ": " + player.problem());
    if (status == Status::damaged) job.problem(input.path() + ": " + player.problem());
    if (status == Status::diverged) {
        const replay::Divergence& d = player.divergence();
        char time[40];
        std::snprintf(time, sizeof time, "%.9g", seconds_of(d.at));
        job.differences.push_back({input.path() + ": first difference at offset " + std::to_string(d.offset) +
                                       ", t " + time + " (event at offset " + std::to_string(d.event_offset) +
                                       ")",
                                   d.event, d.recorded, d.replayed});
    }
}

// Fields that the command line set, as the core takes them.
std::vector<NamedValue> set_by_flags(const LoadedConfig& loaded) {
    std::vector<NamedValue> fields;
    for (const NamedValue& field : values_of(loaded.config.planner)) {
        const auto origin = loaded.origins.find(field.first);
        if (origin != loaded.origins.end() && origin->second.kind == Origin::Kind::flag)
            fields.push_back(field);
    }
    return fields;
}

// The journal's own configuration with the flags' changes, or the given one. Capabilities that it leaves open
// are the journal's: its engines' cards may have come before its first event.
bool choose_config(ReplayJob& job, LoadedConfig& loaded, const plan::Planner& recorded) {
    PlannerConfig& config = loaded.config.planner;
    if (!job.options.flags.has_config()) {
        PlannerConfig own = recorded.config();
        const auto problems = set_fields(own, set_by_flags(loaded), false);
        for (const std::string& p : problems) std::fprintf(stderr, "%s\n", p.c_str());
        if (!problems.empty()) {
            job.usage_error = exit_code::usage;
            return false;
        }
        config = own;
    }
    for (const Role role : all_roles) {
        Capabilities& c = config.capabilities[role];
        const Capabilities card = recorded.engines().lowest_card(role);
        const Capabilities& before = recorded.config().capabilities[role];
        const auto fill = [&](auto Capabilities::*field) {
            if (!(c.*field)) c.*field = card.*field ? card.*field : before.*field;
        };
        fill(&Capabilities::num_gpu);
        fill(&Capabilities::max_num_batched_tokens);
        fill(&Capabilities::max_num_seqs);
        fill(&Capabilities::context_length);
        fill(&Capabilities::max_kv_tokens);
    }
    job.mode = config.mode;
    job.preset = preset_name(config.preset);
    return true;
}

// What the run itself made, and a new run makes anew.
bool is_answer(const EventBody& body) {
    return std::holds_alternative<DecisionOutcome>(body) || std::holds_alternative<DecisionPublished>(body) ||
           std::holds_alternative<DecisionRefused>(body) || std::holds_alternative<TickDue>(body);
}

// A run under another configuration, over all segments.
class Retry {
public:
    Retry(ReplayJob& job, JournalOut& journal, LoadedConfig loaded)
        : job_{job}, journal_{journal}, loaded_{std::move(loaded)} {}

    // False: stop.
    bool play(const InputFile& input, std::string_view bytes, Progress& progress) {
        auto reader = wire::JournalReader::open(bytes);
        if (!reader) {
            job_.problem(input.path() + ": " + reader.error().message);
            return true;
        }
        Event event;
        for (std::size_t i = 0; !interrupted(); ++i) {
            if (i % records_between_looks == 0) {
                progress.show("replaying " + input.path(), reader->offset(), bytes.size());
                journal_.flush();
            }
            const auto item = reader->next(event);
            if (!item) {
                job_.problem(input.path() + ": " + item.error().message);
                return true;
            }
            if (item->kind == wire::JournalItemKind::end) return true;
            if (item->kind == wire::JournalItemKind::torn_tail) {
                job_.warnings.push_back(input.path() + ": offset " + std::to_string(item->offset) +
                                        ": torn tail, " + std::string{item->text});
                return true;
            }
            if (item->kind == wire::JournalItemKind::checkpoint && !session_) {
                if (!begin(input, *item, reader->header().started_unix_ms)) return false;
            } else if (item->kind == wire::JournalItemKind::event && session_ && !is_answer(event.body)) {
                if (const auto fed = feed_->feed(event); !fed)
                    job_.refusals.add("refused", input.path(), 0, fed.error().message);
            }
        }
        return false;
    }
    void finish() {
        if (session_) count_engines(job_, session_->planner());
    }

private:
    bool begin(const InputFile& input, const wire::JournalItem& checkpoint, std::int64_t unix_ms) {
        const auto recorded = plan::Planner::load(checkpoint.planner_state);
        if (!recorded) {
            job_.problem(input.path() + ": " + recorded.error().message);
            return false;
        }
        if (!choose_config(job_, loaded_, *recorded)) return false;
        session_ = std::make_unique<replay::Session>(loaded_.config.planner, job_.assume,
                                                     coordinator_of(loaded_.config));
        replay::Tape* tape = journal_.begin(*session_, header_config(loaded_), checkpoint.at, unix_ms);
        feed_.emplace(*session_, job_.report, tape);
        return true;
    }

    ReplayJob& job_;
    JournalOut& journal_;
    LoadedConfig loaded_;
    std::unique_ptr<replay::Session> session_;
    std::optional<replay::EventFeed> feed_;
};

// Calls `play(input, bytes)` for each segment in order until it answers false.
template <class Play>
void each_segment(ReplayJob& job, Play play) {
    for (const Segment& segment : in_order(job)) {
        if (interrupted()) return;
        InputFile& input = job.inputs[segment.input];
        const auto began = Clock::now();
        const auto bytes = input.read_all(segment_bytes_max);
        job.read_time += Clock::now() - began;
        if (!bytes) {
            job.problem(bytes.error().message);
            continue;
        }
        const auto read = Clock::now();
        const bool more = play(input, *bytes);
        job.run_time += Clock::now() - read;
        if (!more) return;
    }
}

}  // namespace

void replay_journals(ReplayJob& job) {
    if (job.options.journal) {
        std::fprintf(stderr,
                     "replay: --journal of a journal needs another configuration (--config, --set)\n");
        job.usage_error = exit_code::usage;
        return;
    }
    Progress progress;
    replay::JournalPlayer player{job.report};
    each_segment(job, [&](const InputFile& input, std::string_view bytes) {
        play_segment(job, input, bytes, player, progress);
        return job.differences.empty();
    });
    if (player.planner() != nullptr) count_engines(job, *player.planner());
    job.effects_verified = player.effects_verified();
    if (player.effects_unverified() > 0) {
        job.warnings.push_back(std::to_string(player.effects_unverified()) +
                               " effects could not be compared, since events before them were dropped");
    }
    job.stopped = interrupted();
}

void replay_journals_with_policy(ReplayJob& job, JournalOut& journal) {
    auto loaded = load_for(job, request_for(job, true));
    if (!loaded) return;
    Progress progress;
    Retry retry{job, journal, std::move(*loaded)};
    each_segment(job, [&](const InputFile& input, std::string_view bytes) {
        return retry.play(input, bytes, progress);
    });
    job.notes.emplace_back("another configuration than the journal's: nothing is compared");
    retry.finish();
    job.stopped = interrupted();
}

}  // namespace dynaplan::app
