#include "discovery/scope.hpp"

#include <algorithm>

#include "wire/discovery_key.hpp"
#include "wire/endpoint_name.hpp"
#include "wire/era.hpp"
#include "wire/percent.hpp"

namespace dynaplan::discovery {

namespace {

template <class Test>
RolesHere roles_where(const Scope& scope, const Test& test) {
    const auto holds = [&](Role role) {
        const auto& list = scope.endpoints[role];
        return std::any_of(list.begin(), list.end(), test);
    };
    return {holds(Role::prefill), holds(Role::decode)};
}

}  // namespace

RolesHere Scope::roles_of_card(const wire::EventScope& place) const {
    if (place.name_space != name_space || !place.component || !place.endpoint) return {};
    return roles_where(*this, [&](const WorkerEndpoint& w) {
        return w.component == *place.component && w.endpoint == *place.endpoint;
    });
}

RolesHere Scope::roles_of_channel(const wire::EventScope& place) const {
    if (place.name_space != name_space || !place.component) return {};
    return roles_where(*this, [&](const WorkerEndpoint& w) {
        return w.component == *place.component && (!place.endpoint || w.endpoint == *place.endpoint);
    });
}

bool Scope::is_broker(const wire::EventScope& place) const {
    return place.name_space == name_space && place.component == broker_component;
}

std::vector<std::string> Scope::watch_prefixes() const {
    const std::string cards = std::string{to_string(wire::Bucket::model_cards)} + '/';
    const std::string channels = std::string{to_string(wire::Bucket::event_channels)} + '/';
    std::vector<std::string> prefixes{cards + name_space + '/', channels + name_space + '/'};
    const std::string august = channels + "namespace/" +
                               wire::percent_encoded(name_space, wire::Kept::letters_digits_dash_underscore) +
                               '/';
    // A namespace that is called `namespace` has it all in one place.
    if (!wire::is_under(august, prefixes.back())) prefixes.push_back(august);
    return prefixes;
}

Result<Scope> default_scope(std::optional<std::string_view> name_space, std::string_view backend, Mode mode) {
    Scope scope;
    if (name_space) scope.name_space = *name_space;
    if (scope.name_space.empty() || scope.name_space.find('/') != std::string::npos) {
        return failure("namespace \"" + scope.name_space +
                       "\": discovery keys cannot hold it; name one without a slash");
    }
    for (const Role role : all_roles) {
        for (const wire::Era era : {wire::Era::april, wire::Era::august}) {
            const auto names = wire::backend_names(backend, role, era);
            if (!names) {
                return failure("backend \"" + std::string{backend} +
                               "\": its workers' components are not known; one of vllm, sglang, trtllm, "
                               "mocker");
            }
            if (!has_role(mode, role)) continue;
            WorkerEndpoint place{std::string{names->component}, std::string{names->endpoint}};
            auto& list = scope.endpoints[role];
            if (std::find(list.begin(), list.end(), place) == list.end()) list.push_back(std::move(place));
        }
    }
    return scope;
}

std::string file_store_root(std::optional<std::string_view> dyn_file_kv, std::string_view temporary_folder) {
    if (dyn_file_kv && !dyn_file_kv->empty()) return std::string{*dyn_file_kv};
    std::string root{temporary_folder.empty() ? std::string_view{"/tmp"} : temporary_folder};
    if (!root.ends_with('/')) root += '/';
    return root + "dynamo_store_kv";
}

}  // namespace dynaplan::discovery
