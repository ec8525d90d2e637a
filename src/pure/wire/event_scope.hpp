// Where in a deployment an event is published: a namespace, one of its components, or one endpoint of that.
#pragma once

#include <optional>
#include <string>

namespace dynaplan::wire {

struct EventScope {
    std::string name_space;
    std::optional<std::string> component;
    std::optional<std::string> endpoint;  // only with a component
    bool operator==(const EventScope&) const = default;
};

}  // namespace dynaplan::wire
