#include "replay/journal_player.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "replay/time_gate.hpp"
#include "wire/json_effect.hpp"
#include "wire/json_event.hpp"

namespace dynaplan::replay {

Result<void> JournalPlayer::open(std::string_view segment) {
    auto reader = wire::JournalReader::open(segment);
    if (!reader) {
        take_state_ = true;  // what was in it is not known
        return tl::unexpected{reader.error()};
    }
    const wire::JournalHeader& header = reader->header();
    if (last_segment_ && header.segment != *last_segment_ + 1) {
        remarks_.push_back("segment " + std::to_string(header.segment) + " follows segment " +
                           std::to_string(*last_segment_) + ": the state is taken from its checkpoint");
        take_state_ = true;
    } else if (last_segment_ && header.config_json != last_config_) {
        remarks_.push_back("segment " + std::to_string(header.segment) +
                           " has another configuration: the state is taken from its checkpoint");
        take_state_ = true;
    }
    last_segment_ = header.segment;
    last_config_ = header.config_json;
    reader_.emplace(std::move(*reader));
    effects_.clear();
    next_effect_ = 0;
    has_event_ = false;
    return {};
}

JournalPlayer::Status JournalPlayer::play(std::size_t records) {
    for (std::size_t i = 0; i < records; ++i) {
        const auto item = reader_->next(event_);
        if (!item) return damaged(item.error().message);
        Status status = Status::more;
        switch (item->kind) {
            case wire::JournalItemKind::event: status = take_event(item->offset); break;
            case wire::JournalItemKind::effect: status = take_effect(*item); break;
            case wire::JournalItemKind::checkpoint: status = take_checkpoint(*item); break;
            case wire::JournalItemKind::note:
                if (item->note == wire::JournalNote::dropped) {
                    events_dropped_ += item->count;
                    comparing_ = false;
                    take_state_ = true;
                    remarks_.push_back("offset " + std::to_string(item->offset) + ": " +
                                       std::to_string(item->count) +
                                       " events are not in the journal; effects are not compared until the "
                                       "next checkpoint");
                } else {
                    remarks_.push_back("remark: " + std::string{item->text});
                }
                break;
            case wire::JournalItemKind::torn_tail:
                problem_ =
                    "offset " + std::to_string(item->offset) + ": torn tail, " + std::string{item->text};
                take_state_ = true;
                return Status::torn;
            case wire::JournalItemKind::end:
                if (pending()) {
                    problem_ = "offset " + std::to_string(item->offset) +
                               ": torn tail, the effects of the last event are missing";
                    take_state_ = true;
                    return Status::torn;
                }
                return Status::end;
        }
        if (status != Status::more) return status;
    }
    return Status::more;
}

JournalPlayer::Status JournalPlayer::take_event(std::size_t offset) {
    if (pending()) {
        has_event_ = false;  // the one whose effect is missing has been read over
        return diverge(offset, {}, render(effects_[next_effect_]));
    }
    if (!planner_)
        return damaged("journal offset " + std::to_string(offset) + ": an event before the first checkpoint");
    if (const std::string problem = time_problem(event_.at, last_at_, started_); !problem.empty())
        return damaged("journal offset " + std::to_string(offset) + ": " + problem);
    started_ = true;
    has_event_ = true;
    last_at_ = std::max(last_at_, event_.at);
    event_offset_ = offset;
    effects_ = planner_->step(event_);
    next_effect_ = 0;
    if (effects_.empty() && std::holds_alternative<FpmArrived>(event_.body)) {
        report_.began(event_.at);
        report_.quiet_pass(last_at_);
    } else {
        report_.take(event_, effects_);
    }
    return Status::more;
}

std::string JournalPlayer::render(const Effect& effect) {
    std::string line;
    wire::append_effect_json(line, effect);
    return line;
}

JournalPlayer::Status JournalPlayer::take_effect(const wire::JournalItem& item) {
    if (!comparing_) {
        ++effects_unverified_;
        return Status::more;
    }
    if (next_effect_ >= effects_.size()) return diverge(item.offset, std::string{item.text}, {});
    line_.clear();
    wire::append_effect_json(line_, effects_[next_effect_]);
    if (line_ != item.text) return diverge(item.offset, std::string{item.text}, line_);
    ++next_effect_;
    ++effects_verified_;
    return Status::more;
}

JournalPlayer::Status JournalPlayer::take_checkpoint(const wire::JournalItem& item) {
    if (pending()) return diverge(item.offset, {}, render(effects_[next_effect_]));
    if (planner_ && !take_state_) {
        if (planner_->save() == item.planner_state) return Status::more;
        return diverge(item.offset, "a checkpoint with another state", "the state that the events lead to");
    }
    auto loaded = plan::Planner::load(item.planner_state);
    if (!loaded) {
        planner_.reset();
        return damaged("journal offset " + std::to_string(item.offset) + ": " + loaded.error().message);
    }
    planner_.emplace(std::move(*loaded));
    take_state_ = false;
    comparing_ = true;
    started_ = false;
    last_at_ = item.at;
    effects_.clear();
    next_effect_ = 0;
    return Status::more;
}

JournalPlayer::Status JournalPlayer::damaged(std::string what) {
    problem_ = std::move(what);
    take_state_ = true;
    effects_.clear();
    next_effect_ = 0;
    return Status::damaged;
}

JournalPlayer::Status JournalPlayer::diverge(std::size_t offset, std::string recorded, std::string replayed) {
    Divergence d;
    d.offset = offset;
    d.at = last_at_;
    d.event_offset = event_offset_;
    if (has_event_) wire::append_event_json(d.event, event_);
    d.recorded = std::move(recorded);
    d.replayed = std::move(replayed);
    divergence_ = std::move(d);
    return Status::diverged;
}

}  // namespace dynaplan::replay
