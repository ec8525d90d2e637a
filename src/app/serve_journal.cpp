#include "app/serve_journal.hpp"

#include <utility>

#include "app/command_replay_job.hpp"
#include "app/files.hpp"
#include "app/version.hpp"
#include "core/config_field.hpp"
#include "observe/newest_checkpoint.hpp"
#include "wire/journal_reader.hpp"

namespace dynaplan::app {

namespace {

constexpr std::uint64_t segment_most = std::uint64_t{8} << 30U;  // as `dynaplan replay` takes at most

// The segment's events, played to the planner that stands at its checkpoint. What cannot be read any more is
// the end: a killed process leaves a torn tail.
Result<void> play(const std::string& path, plan::Planner& planner, TimePoint& at) {
    auto input = InputFile::open(path);
    if (!input) return tl::unexpected{input.error()};
    const auto bytes = input->read_all(segment_most);
    if (!bytes) return tl::unexpected{bytes.error()};
    auto reader = wire::JournalReader::open(*bytes);
    if (!reader) return tl::unexpected{reader.error()};
    Event event;
    for (;;) {
        const auto item = reader->next(event);
        if (!item) return tl::unexpected{item.error()};
        switch (item->kind) {
            case wire::JournalItemKind::event:
                (void)planner.step(event);
                at = std::max(at, event.at);
                break;
            case wire::JournalItemKind::checkpoint:
            case wire::JournalItemKind::effect:
            case wire::JournalItemKind::note: break;
            case wire::JournalItemKind::torn_tail:
                return failure(path + ": torn at offset " + std::to_string(item->offset) +
                               ": going on from what is before it");
            case wire::JournalItemKind::end: return {};
        }
    }
}

}  // namespace

RestoredPlanner restore_planner(const AppConfig& config) {
    RestoredPlanner fresh{plan::Planner{config.planner}, TimePoint{}, {}};
    if (!config.journal.dir) return fresh;
    auto newest = observe::newest_checkpoint(*config.journal.dir);
    if (!newest) {
        fresh.remarks.push_back(newest.error().message + ": starting afresh");
        return fresh;
    }
    fresh.remarks = std::move(newest->remarks);
    if (!newest->found) return fresh;
    const std::string& path = newest->found->path;
    auto planner = plan::Planner::load(newest->found->planner_state);
    if (!planner) {
        fresh.remarks.push_back(path + ": " + planner.error().message + ": starting afresh");
        return fresh;
    }
    // Fields that may change while running are set after the start; the others make it another planner.
    PlannerConfig as_wanted = planner->config();
    const auto refused = set_fields(as_wanted, values_of(config.planner), true);
    if (!refused.empty()) {
        fresh.remarks.push_back(path + " is of another configuration (" + refused.front() +
                                "): starting afresh");
        return fresh;
    }
    RestoredPlanner restored{std::move(*planner), newest->found->at, std::move(fresh.remarks)};
    if (const auto played = play(path, restored.planner, restored.at); !played)
        restored.remarks.push_back(played.error().message);
    restored.remarks.push_back("going on from " + path);
    return restored;
}

Result<std::unique_ptr<observe::JournalFolder>> open_journal(
    const LoadedConfig& loaded, runtime::Service& service, std::function<void(std::function<void()>)> post) {
    const JournalConfig& c = loaded.config.journal;
    if (!c.dir) return std::unique_ptr<observe::JournalFolder>{};
    constexpr unsigned mb = 20;
    observe::JournalFolderOptions options;
    options.folder = *c.dir;
    options.segment_bytes = static_cast<std::uint64_t>(c.segment_mb) << mb;
    options.segment_age = c.segment_age;
    options.kept_bytes = static_cast<std::uint64_t>(c.kept_mb) << mb;
    options.program_version = std::string{program_version};
    options.checkpoint = [&service, config = header_config(loaded)] {
        runtime::Checkpoint state = service.checkpoint();
        return observe::SegmentStart{state.at, config, std::move(state.planner),
                                     std::move(state.coordinator)};
    };
    options.post = std::move(post);
    return observe::JournalFolder::open(std::move(options));
}

}  // namespace dynaplan::app
