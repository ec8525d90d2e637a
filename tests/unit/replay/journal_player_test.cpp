// Runs are written to memory as journal segments and verified; then bytes are bent, one thing at a time.
#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "replay/event_feed.hpp"
#include "replay/journal_player.hpp"
#include "trace_samples.hpp"
#include "wire/journal_writer.hpp"

using namespace dynaplan;
using namespace dynaplan::replay;

namespace {

using Status = JournalPlayer::Status;

Event pass_event(std::int64_t i) {
    Event e;
    e.at = at_seconds(0.1 * static_cast<double>(i));
    FpmArrived& arrived = e.body.emplace<FpmArrived>();
    arrived.role = Role::decode;
    arrived.fpm.worker_id = "7";
    arrived.fpm.pass = decode_pass(i);
    return e;
}

// A run of 30 s, written as `segments` segments of equal length.
struct Run {
    std::vector<std::string> segments;
    RunReport report;

    explicit Run(int count = 1) {
        Session session{decode_config(), Assume::acknowledged};
        Tape tape;
        EventFeed feed{session, report, &tape};
        constexpr int passes = 300;
        for (int i = 0; i < passes; ++i) {
            if (i % (passes / count) == 0) {
                if (i > 0) segments.push_back(std::exchange(tape.bytes(), {}));
                wire::JournalHeader header;
                header.segment = static_cast<std::uint64_t>(i / (passes / count));
                tape.begin(header, session, session.now());
            }
            REQUIRE(feed.feed(pass_event(i)));
        }
        segments.push_back(std::exchange(tape.bytes(), {}));
    }
};

Status play(JournalPlayer& player, std::string_view segment) {
    const auto opened = player.open(segment);
    REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
    Status status = Status::more;
    while (status == Status::more) status = player.play(7);
    return status;
}

}  // namespace

TEST_CASE("journal: a run replays to the same effects, decisions and fates") {
    const Run run;
    RunReport report;
    JournalPlayer player{report};
    CHECK(play(player, run.segments[0]) == Status::end);
    CHECK(player.effects_verified() > 10);
    CHECK(report.passes() == 300);
    REQUIRE_FALSE(report.decisions().empty());
    REQUIRE(report.decisions().size() == run.report.decisions().size());
    CHECK(report.decisions()[0].fate.decision_id == run.report.decisions()[0].fate.decision_id);
    CHECK(report.decisions()[0].outcome == OutcomeKind::acknowledged);
    CHECK(report.ticks() == run.report.ticks());
}

TEST_CASE("journal: segments follow each other, and any one of them stands alone") {
    const Run run{3};
    RunReport report;
    JournalPlayer player{report};
    for (const std::string& segment : run.segments) CHECK(play(player, segment) == Status::end);
    CHECK(player.take_remarks().empty());
    CHECK(report.passes() == 300);
    for (const std::string& segment : run.segments) {
        RunReport alone;
        JournalPlayer second{alone};
        CHECK(play(second, segment) == Status::end);
        CHECK(alone.passes() == 100);
    }
}

TEST_CASE("journal: after a gap the state comes from the checkpoint, and a remark says so") {
    const Run run{3};
    RunReport report;
    JournalPlayer player{report};
    CHECK(play(player, run.segments[0]) == Status::end);
    CHECK(play(player, run.segments[2]) == Status::end);
    CHECK(player.take_remarks().size() == 1);
}

TEST_CASE("journal: a later checkpoint with another state is a difference") {
    const Run run{2};
    // The second segment's checkpoint of a run that missed the last event of the first segment.
    Session other{decode_config(), Assume::acknowledged};
    RunReport ignored;
    Tape tape;
    EventFeed feed{other, ignored, nullptr};
    for (int i = 0; i < 149; ++i) REQUIRE(feed.feed(pass_event(i)));
    wire::JournalHeader header;
    header.segment = 1;
    tape.begin(header, other, other.now());
    RunReport report;
    JournalPlayer player{report};
    CHECK(play(player, run.segments[0]) == Status::end);
    CHECK(play(player, tape.bytes()) == Status::diverged);
}

TEST_CASE("journal: effects that differ, are missing or too many are found, with both sides") {
    Session session{decode_config(), Assume::nothing};
    std::vector<Moment> moments;
    for (int i = 0; i < 60; ++i) REQUIRE(session.feed(pass_event(i), moments));
    enum class Bend { nothing, alter, drop, add };
    for (const Bend bend : {Bend::nothing, Bend::alter, Bend::drop, Bend::add}) {
        wire::JournalWriter writer;
        std::string bytes;
        Session fresh{decode_config(), Assume::nothing};
        writer.append_header(bytes, {});
        writer.append_checkpoint(bytes, TimePoint{}, fresh.save_planner(), fresh.save_coordinator());
        bool bent = false;
        TimePoint bent_at{};
        std::int64_t observed = 0;
        for (const Moment& m : moments) {
            writer.append_event(bytes, m.event);
            for (Effect e : m.effects) {
                auto* report = std::get_if<DiagnosticsReport>(&e.body);
                if (report == nullptr || bent) {
                    writer.append_effect(bytes, e);
                    continue;
                }
                bent = true;
                bent_at = m.event.at;
                observed = report->fpm_observed;
                if (bend == Bend::alter) ++report->fpm_observed;
                if (bend != Bend::drop) writer.append_effect(bytes, e);
            }
            if (bend == Bend::add && bent && m.effects.size() > 1) {
                writer.append_effect(bytes, Effect{m.event.at, TrafficWanted{Seconds{9.0}}});
            }
        }
        RunReport report;
        JournalPlayer player{report};
        const Status status = play(player, bytes);
        if (bend == Bend::nothing) {
            CHECK(status == Status::end);
            continue;
        }
        REQUIRE(status == Status::diverged);
        CHECK(player.divergence().at == bent_at);
        const std::string& recorded = player.divergence().recorded;
        const std::string& replayed = player.divergence().replayed;
        CHECK(recorded != replayed);
        if (bend == Bend::alter) {
            const auto field = [](std::int64_t n) { return "\"fpm_observed\":" + std::to_string(n) + ","; };
            CHECK(recorded.find(field(observed + 1)) != std::string::npos);
            CHECK(replayed.find(field(observed)) != std::string::npos);
        }
        if (bend == Bend::drop) CHECK(replayed.find("diagnostics") != std::string::npos);
        if (bend == Bend::add) CHECK(replayed.empty());
    }
}

TEST_CASE("journal: torn anywhere, what came before counts, and nothing is called a difference") {
    const Run run;
    const std::string& whole = run.segments[0];
    for (std::size_t cut = whole.size() - 400; cut < whole.size(); ++cut) {
        RunReport report;
        JournalPlayer player{report};
        const Status status = play(player, std::string_view{whole}.substr(0, cut));
        CHECK_MESSAGE((status == Status::torn || status == Status::end), cut);
    }
}

TEST_CASE("journal: damage in the middle ends the segment; the next one goes on from its checkpoint") {
    Run run{2};
    run.segments[0][run.segments[0].size() / 2] ^= 0x55;
    RunReport report;
    JournalPlayer player{report};
    CHECK(play(player, run.segments[0]) == Status::damaged);
    CHECK(player.problem().find("offset") != std::string::npos);
    CHECK(play(player, run.segments[1]) == Status::end);
}

TEST_CASE("journal: dropped events stop the comparison until the next checkpoint") {
    Run run{2};
    wire::JournalWriter writer;
    std::string note;
    writer.append_note(note, at_seconds(15.0), wire::JournalNote::dropped, 12);
    writer.append_effect(note, Effect{at_seconds(15.0), TrafficWanted{Seconds{9.0}}});
    RunReport report;
    JournalPlayer player{report};
    CHECK(play(player, run.segments[0] + note) == Status::end);
    CHECK(player.events_dropped() == 12);
    CHECK(player.effects_unverified() == 1);
    CHECK(play(player, run.segments[1]) == Status::end);
    CHECK(player.effects_unverified() == 1);
}

TEST_CASE("journal: times that no schedule can follow are damage, not years of work") {
    for (const double t : {1e300, 1e10, std::numeric_limits<double>::quiet_NaN()}) {
        Session fresh{decode_config(), Assume::nothing};
        wire::JournalWriter writer;
        std::string bytes;
        writer.append_header(bytes, {});
        writer.append_checkpoint(bytes, TimePoint{}, fresh.save_planner(), fresh.save_coordinator());
        Event first = pass_event(0);
        std::vector<Moment> moments;
        REQUIRE(fresh.feed(first, moments));
        writer.append_event(bytes, first);
        for (const Effect& e : moments[0].effects) writer.append_effect(bytes, e);
        first.at = at_seconds(t);
        writer.append_event(bytes, first);
        RunReport report;
        JournalPlayer player{report};
        CHECK(play(player, bytes) == Status::damaged);
    }
}
