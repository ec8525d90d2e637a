#include "wire/nats_subject.hpp"

#include <algorithm>

#include "wire/json_nearest.hpp"
#include "wire/percent.hpp"

namespace dynaplan::wire {

namespace {

constexpr Kept kept = Kept::letters_digits_dash_underscore;

std::string segment(Era era, std::string_view name) {
    return era == Era::april ? std::string{name} : percent_encoded(name, kept);
}

// Empty when the name can be used.
std::string_view problem_of(Era era, std::string_view name) {
    if (name.empty()) return "is empty";
    if (era == Era::august) return {};
    const bool control = std::any_of(name.begin(), name.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte <= 0x20 || byte == 0x7f;
    });
    if (control) return "holds a blank or a control character";
    if (name.find_first_of("*>") != std::string_view::npos) return "holds a wildcard of NATS";
    if (name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string_view::npos) {
        return "has an empty part between dots";
    }
    return {};
}

}  // namespace

std::string unchecked_subject(Era era, const EventScope& scope, std::string_view topic) {
    std::string text = "namespace." + segment(era, scope.name_space);
    if (scope.component) {
        text += ".component." + segment(era, *scope.component);
        if (scope.endpoint && era == Era::august) text += ".endpoint." + segment(era, *scope.endpoint);
    }
    return text + '.' + segment(era, topic);
}

Result<std::string> subject(Era era, const EventScope& scope, std::string_view topic) {
    std::string refused;
    const auto look_at = [&](std::string_view what, std::string_view name) {
        const std::string_view problem = problem_of(era, name);
        if (problem.empty() || !refused.empty()) return;
        refused.append("no NATS subject: the ").append(what).append(" ").append(in_quotes(name));
        refused.append(" ").append(problem);
    };
    look_at("namespace", scope.name_space);
    if (scope.component) look_at("component", *scope.component);
    if (scope.component && scope.endpoint && era == Era::august) look_at("endpoint", *scope.endpoint);
    look_at("topic", topic);
    if (!refused.empty()) return failure(std::move(refused));
    return unchecked_subject(era, scope, topic);
}

DualEraSubjects dual_era_subjects(const EventScope& endpoint, std::string_view topic) {
    DualEraSubjects out;
    for (const Era era : {Era::april, Era::august}) {
        auto text = subject(era, endpoint, topic);
        if (text) {
            // A scope without an endpoint, of plain names, has one subject in both eras.
            if (out.subjects.empty() || out.subjects.front() != *text)
                out.subjects.push_back(std::move(*text));
        } else {
            out.refused.push_back(std::move(text.error()));
        }
    }
    return out;
}

std::string zmq_routing_key(ZmqMode mode, Era era, const EventScope& scope, std::string_view topic) {
    if (mode == ZmqMode::direct || era == Era::april) return std::string{topic};
    return unchecked_subject(era, scope, topic);
}

bool routing_key_fits(std::string_view routing_key, std::string_view topic) {
    if (routing_key == topic) return true;
    // Behind a broker the encoded topic is the subject's last part, and an encoded part holds no dot.
    const std::size_t dot = routing_key.rfind('.');
    return dot != std::string_view::npos && routing_key.starts_with("namespace.") &&
           is_percent_encoded_form(routing_key.substr(dot + 1), topic, kept);
}

}  // namespace dynaplan::wire
