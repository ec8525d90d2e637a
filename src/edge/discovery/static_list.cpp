#include "discovery/static_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>

#include "discovery/card_worker.hpp"

namespace dynaplan::discovery {

namespace {

// As a report spells it, or the two never meet: no sign, no leading zero, 64 bits.
bool is_worker_id(const std::string& text) {
    std::uint64_t id = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, id);
    return error == std::errc{} && stopped == end && (text == "0" || text.front() != '0');
}

}  // namespace

Result<void> StaticList::check(const std::vector<StaticWorker>& workers) {
    std::string problems;
    const auto problem = [&](std::size_t index, const std::string& what) {
        if (!problems.empty()) problems += "; ";
        problems += "discovery worker " + std::to_string(index + 1) + ": " + what;
    };
    if (workers.empty())
        return failure("discovery: the static list names no worker; add one, or set the backend to engines");
    std::set<std::string> ids;
    std::int64_t engines = 0;
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const StaticWorker& w = workers[i];
        if (!w.worker_id && !w.url) problem(i, "needs a worker_id, a url, or both");
        if (w.worker_id && !is_worker_id(*w.worker_id)) {
            problem(i, "worker_id \"" + *w.worker_id + "\" is not the decimal number that its reports hold");
        } else if (w.worker_id && !ids.insert(*w.worker_id).second) {
            problem(i, "worker_id \"" + *w.worker_id + "\" is listed twice; one entry has all its ranks");
        }
        if (w.url && !w.url->starts_with("tcp://") && !w.url->starts_with("ipc://")) {
            problem(i, "url \"" + *w.url + "\" is no address; it reads tcp://HOST:PORT or ipc://PATH");
        }
        if (w.rank_count < 1 || w.rank_count > ranks_most) {
            problem(
                i, "has " + std::to_string(w.rank_count) + " ranks; from 1 to " + std::to_string(ranks_most));
        } else if (w.worker_id) {
            engines += w.rank_count;
        }
        if (w.rank_first < 0 || w.rank_first > rank_highest - ranks_most) {
            problem(i, "begins with rank " + std::to_string(w.rank_first) + "; from 0 to " +
                           std::to_string(rank_highest - ranks_most));
        }
    }
    if (engines > WorkerTable::engines_most) {
        problem(workers.size() - 1, "makes " + std::to_string(engines) + " engines together; at most " +
                                        std::to_string(WorkerTable::engines_most));
    }
    if (!problems.empty()) return failure(problems);
    return {};
}

StaticList::StaticList(const std::vector<StaticWorker>& workers, port::EventSink& events,
                       port::ChannelSink* channels)
    : table_{events} {
    for (std::size_t i = 0; i < workers.size(); ++i) {
        const StaticWorker& w = workers[i];
        complete_ = complete_ && w.worker_id.has_value();
        if (w.worker_id && !table_.set(*w.worker_id, {w.role, w.rank_first, w.rank_count, w.capabilities})) {
            complete_ = false;  // beyond the bound, which the check refuses: better heard than refused
        }
        if (w.url && channels != nullptr) {
            channels->channel_added({"static/" + std::to_string(i), *w.url, w.role});
        }
    }
}

}  // namespace dynaplan::discovery
