#include "check_vectors/virtual_scenario.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "check_vectors/compare.hpp"
#include "core/role.hpp"
#include "decision/acknowledgement_wait.hpp"

namespace dynaplan::check_vectors {

namespace {

using decision::StoredState;
using Json = VirtualScenario::Json;

// The format: "defaults: check interval 10 s, maximum wait 1800 s".
constexpr Seconds check_interval{10.0};
constexpr Seconds max_wait{1800.0};
constexpr std::int64_t client_lease = 1;
constexpr std::int64_t coordinator_lease = 2;  // none of ours has it: keys are written without a lease (V-1)
constexpr std::int64_t wall_at_0 = 1'700'000'000'000;  // Unix milliseconds; any will do
constexpr std::string_view acknowledged_name = "scaled_decision_id";

[[noreturn]] void malformed(const std::string& why) { throw std::runtime_error{why}; }

std::int64_t integer(const Json& value) {
    if (!value.is_number_integer()) malformed(shown(value) + " is no whole number");
    return value.get<std::int64_t>();
}

// Absent and null are the same: the role is not given.
std::optional<std::int64_t> optional_integer(const Json& step, const char* name) {
    const auto member = step.find(name);
    return member == step.end() || member->is_null() ? std::nullopt : std::optional{integer(*member)};
}

TimePoint later_by(TimePoint now, const Json& seconds) {
    const double span = seconds.is_number() ? seconds.get<double>() : -1.0;
    if (!(span >= 0.0)) malformed(shown(seconds) + " is no time span in seconds");
    return now + Seconds{span};
}

// As the reference's clients read a value: with 64 bits and a sign.
std::optional<std::int64_t> client_number(std::string_view text) {
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    std::int64_t n = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), n);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return n;
}

std::string_view word_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::unchanged: return "unchanged";
        case Refusal::not_ready: return "skipped_not_ready";
        case Refusal::conflict: return "conflict";
        case Refusal::store: return "error:etcd_write";
    }
    malformed("a refusal without a word");
}

}  // namespace

VirtualScenario::Process::Process(EtcdInMemory& etcd, const connector::EtcdKeys& keys)
    : store{etcd, keys},
      coordinator{store, {.timeout_from = decision::TimeoutFrom::first_refusal, .timeout = max_wait}} {}

VirtualScenario::VirtualScenario(const Json& initial_etcd) : root_{keys_.all + "planner/"}, etcd_{root_} {
    for (const auto& [name, value] : initial_etcd.items()) {
        const bool of_client = name == acknowledged_name;
        etcd_.put({key_of(name), value.get<std::string>(), of_client ? client_lease : 0});
    }
    deliver();
}

const std::map<std::string, VirtualScenario::Operation>& VirtualScenario::operations() {
    using S = VirtualScenario;
    static const std::map<std::string, Operation> all{
        {"start", {{}, &S::start}},
        {"coordinator_crash", {{}, &S::crash}},
        {"coordinator_lease_expires", {{}, &S::end_coordinator_lease}},
        {"set", {{"prefill", "decode"}, &S::set}},
        {"add", {{"component", "discovered"}, &S::add}},
        {"remove", {{"component", "discovered"}, &S::remove}},
        {"wait", {{"during"}, &S::wait}},
        {"advance", {{"seconds"}, &S::advance}},
        {"fail_write", {{"nth"}, &S::fail_write}},
        {"watch_down", {{}, &S::watch_down}},
        {"raw_put", {{"key", "value"}, &S::raw_put}},
        {"client_get", {{}, &S::client_get}},
        {"client_complete", {{"decision_id"}, &S::client_complete}},
        {"client_lease_expires", {{}, &S::end_client_lease}},
    };
    return all;
}

const std::vector<std::string>* VirtualScenario::members_of(const std::string& operation) {
    const auto found = operations().find(operation);
    return found == operations().end() ? nullptr : &found->second.members;
}

Json VirtualScenario::run(const Json& step) {
    const Operation& operation = operations().at(step.at("op").get<std::string>());
    states_ = {seen_};
    Json answer = (this->*operation.run)(step);
    write_due();
    deliver();
    answer["new_visible_states"] = states_.size() - 1;
    answer["etcd"] = visible();
    if (process_) answer["read_state"] = read_state();
    return answer;
}

// ---- the coordinator

VirtualScenario::Process& VirtualScenario::process() {
    if (!process_) malformed("no coordinator is running");
    return *process_;
}

Json VirtualScenario::start(const Json&) {
    if (process_) malformed("the coordinator is running already");
    process_ = std::make_unique<Process>(etcd_, keys_);
    (void)process_->coordinator.restore(now_, wall_ms());
    if (!process_->coordinator.restored()) malformed("the coordinator could not read the store");
    return Json::object();
}

Json VirtualScenario::crash(const Json&) {
    (void)process();
    process_.reset();
    return Json::object();
}

Json VirtualScenario::end_coordinator_lease(const Json&) {
    etcd_.end_lease(coordinator_lease);
    return Json::object();
}

Json VirtualScenario::set(const Json& step) {
    const auto wanted =
        decision::wanted_counts(optional_integer(step, "prefill"), optional_integer(step, "decode"));
    if (!wanted) return {{"result", "error:invalid_argument"}};
    return propose(*wanted);
}

Json VirtualScenario::add(const Json& step) { return change_by_one(step, decision::one_more); }
Json VirtualScenario::remove(const Json& step) { return change_by_one(step, decision::one_less); }

Json VirtualScenario::change_by_one(const Json& step,
                                    decision::WantedCounts (*change)(Role, std::optional<Replicas>,
                                                                     Replicas)) {
    const auto name = step.at("component").get<std::string>();
    const auto role =
        std::find_if(all_roles.begin(), all_roles.end(), [&](Role one) { return to_string(one) == name; });
    if (role == all_roles.end()) malformed("component " + name + " is no role");
    const StoredState& known = process().coordinator.known();
    const auto remembered = *role == Role::prefill ? known.prefill : known.decode;
    // None is found where the step says nothing of it.
    const Replicas discovered{optional_integer(step, "discovered").value_or(0)};
    return propose(change(*role, remembered, discovered));
}

Json VirtualScenario::propose(const decision::WantedCounts& wanted) {
    decision::Coordinator& coordinator = process().coordinator;
    ScaleTo proposal;
    proposal.proposal = proposals_++;
    proposal.prefill = wanted.prefill;
    proposal.decode = wanted.decode;
    for (const Event& event : coordinator.propose(proposal, now_, wall_ms())) {
        if (const auto* const refused = std::get_if<DecisionRefused>(&event.body)) {
            return {{"result", word_of(refused->reason)}};
        }
        if (const auto* const published = std::get_if<DecisionPublished>(&event.body)) {
            const auto* const record = coordinator.find(published->decision_id);
            return {{"result", record != nullptr && record->forced ? "forced" : "written"}};
        }
    }
    malformed("the coordinator did not answer the proposal");
}

Json VirtualScenario::wait(const Json& step) {
    decision::Coordinator& coordinator = process().coordinator;
    const TimePoint began = now_;
    if (const auto during = step.find("during"); during != step.end()) {
        for (const Json& write : *during) {
            for (const auto& [name, value] : write.items()) {
                if (name != "at_s" && name != "key" && name != "value")
                    malformed("during: unknown member " + name);
            }
            // Only a client acknowledges.
            const bool of_client = write.at("key") == acknowledged_name;
            later_.push_back({later_by(began, write.at("at_s")),
                              {key_of(write.at("key")), write.at("value").get<std::string>(),
                               of_client ? client_lease : 0}});
        }
        std::stable_sort(later_.begin(), later_.end(),
                         [](const Later& a, const Later& b) { return a.at < b.at; });
    }
    decision::AcknowledgementWait wait{coordinator.known(), now_,
                                       decision::wait_bound(check_interval, max_wait)};
    while (!wait.result()) {
        if (later_.empty() || later_.front().at >= wait.deadline()) {
            now_ = wait.deadline();
            wait.tick(now_);
            break;
        }
        now_ = std::max(now_, later_.front().at);
        etcd_.put(later_.front().put);
        later_.erase(later_.begin());
        deliver();
        wait.observe(coordinator.known(), now_);
    }
    return {{"result", decision::to_string(wait.result().value())}, {"elapsed_s", (now_ - began).count()}};
}

Json VirtualScenario::advance(const Json& step) {
    const TimePoint to = later_by(now_, step.at("seconds"));
    while (!later_.empty() && later_.front().at <= to) {
        now_ = std::max(now_, later_.front().at);
        write_due();
        deliver();
    }
    now_ = to;
    if (process_) (void)process_->coordinator.tick(now_);
    return Json::object();
}

Json VirtualScenario::fail_write(const Json& step) {
    const std::int64_t nth = integer(step.at("nth"));
    if (nth < 1) malformed("nth " + std::to_string(nth) + " is no position from 1 on");
    etcd_.refuse_write(nth);
    return Json::object();
}

Json VirtualScenario::watch_down(const Json&) {
    process().watching = false;
    return Json::object();
}

// ---- others

Json VirtualScenario::raw_put(const Json& step) {
    etcd_.put({key_of(step.at("key")), step.at("value").get<std::string>()});
    return Json::object();
}

Json VirtualScenario::client_get(const Json&) {
    std::map<std::string, std::int64_t> numbers{
        {"num_prefill_workers", -1}, {"num_decode_workers", -1}, {"decision_id", -1}};
    for (const net::EtcdPair& pair : etcd_.list(net::etcd_prefix(root_)).pairs) {
        const auto wanted = numbers.find(pair.key.substr(pair.key.rfind('/') + 1));
        if (wanted == numbers.end()) continue;
        const auto number = client_number(pair.value);
        if (!number) return {{"result", "error"}};
        wanted->second = *number;
    }
    got_ = numbers.at("decision_id");
    return {{"result", "ok"},
            {"decision", {numbers.at("num_prefill_workers"), numbers.at("num_decode_workers"), *got_}}};
}

Json VirtualScenario::client_complete(const Json& step) {
    const auto given = optional_integer(step, "decision_id");
    if (!given && !got_) malformed("client_complete without a number needs a client_get before it");
    etcd_.put({keys_.acknowledged, std::to_string(given ? *given : *got_), client_lease});
    return {{"result", "ok"}};
}

Json VirtualScenario::end_client_lease(const Json&) {
    etcd_.end_lease(client_lease);
    return Json::object();
}

// ---- the world

std::string VirtualScenario::key_of(const Json& name) const { return root_ + name.get<std::string>(); }

std::int64_t VirtualScenario::wall_ms() const {
    return wall_at_0 + static_cast<std::int64_t>(seconds_of(now_) * 1000.0);
}

void VirtualScenario::write_due() {
    while (!later_.empty() && later_.front().at <= now_) {
        etcd_.put(later_.front().put);
        later_.erase(later_.begin());
    }
}

void VirtualScenario::deliver() {
    for (const EtcdInMemory::Change& change : etcd_.take_changes()) {
        for (const net::EtcdEvent& event : change.events) {
            if (!event.pair.key.starts_with(root_)) continue;
            const std::string name = event.pair.key.substr(root_.size());
            if (event.deleted) {
                seen_.erase(name);
            } else {
                seen_[name] = event.pair.value;
            }
        }
        states_.insert(seen_);
        if (!process_ || !process_->watching) continue;
        const StoredState state = process_->store.watched(change);
        (void)process_->coordinator.observe(state, now_, wall_ms());
    }
}

Json VirtualScenario::read_state() const {
    const StoredState& known = process_->coordinator.known();
    const auto count = [](const std::optional<Replicas>& n) { return n ? n->count() : -1; };
    return {count(known.prefill), count(known.decode), known.current.value_or(-1)};
}

Json VirtualScenario::visible() const {
    Json out = Json::object();
    for (const net::EtcdPair& pair : etcd_.list(net::etcd_prefix(root_)).pairs) {
        out[pair.key.substr(root_.size())] = pair.value;
    }
    return out;
}

}  // namespace dynaplan::check_vectors
