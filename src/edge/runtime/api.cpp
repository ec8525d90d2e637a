#include "runtime/api.hpp"

#include <charconv>
#include <memory>
#include <utility>

#include "runtime/api_input.hpp"
#include "runtime/decision_json.hpp"

namespace dynaplan::runtime {

namespace {

constexpr unsigned ok = 200;
constexpr unsigned no_content = 204;
constexpr unsigned bad_request = 400;
constexpr unsigned not_found = 404;
constexpr unsigned conflict = 409;
constexpr unsigned unavailable = 503;

net::HttpResponse json(unsigned status, std::string body) {
    net::HttpResponse response;
    response.status = status;
    response.body = std::move(body);
    return response;
}

net::HttpResponse text(unsigned status, std::string body) {
    net::HttpResponse response = json(status, std::move(body));
    response.content_type = "text/plain; charset=utf-8";
    return response;
}

net::HttpResponse standing_by() {
    return net::error_response(
        unavailable, "this planner stands by or has not read its store yet: ask the leader, or again");
}

net::HttpResponse settlement_response(const decision::Settlement& settled, DecisionId id) {
    using Status = decision::Settlement::Status;
    switch (settled.status) {
        case Status::done:
            if (settled.record) return json(ok, decision_json(*settled.record));
            // Over long ago: nothing is known of it but that.
            return json(ok, "{\"decision_id\":" + std::to_string(id) + "}");
        case Status::never_published:
            return net::error_response(conflict, "decision " + std::to_string(id) + " was never published");
        case Status::unavailable:
        case Status::deferred: break;
    }
    return standing_by();
}

}  // namespace

Api::Api(Parts parts) : parts_{std::move(parts)} {
    using net::HttpRequest;
    using net::Reply;
    using net::RouteParameters;
    router_.add("GET", "/v1/decisions/next", [this](HttpRequest r, const RouteParameters&, Reply reply) {
        next_decision(r, std::move(reply));
    });
    router_.add("GET", "/v1/decisions", [this](HttpRequest, const RouteParameters&, Reply reply) {
        list_decisions(std::move(reply));
    });
    router_.add("GET", "/v1/decisions/{id}", [this](HttpRequest, const RouteParameters& p, Reply reply) {
        show_decision(p["id"], std::move(reply));
    });
    router_.add("POST", "/v1/decisions/{id}/complete",
                [this](HttpRequest, const RouteParameters& p, Reply reply) {
                    settle(p["id"], true, std::move(reply));
                });
    router_.add("POST", "/v1/decisions/{id}/fail",
                [this](HttpRequest, const RouteParameters& p, Reply reply) {
                    settle(p["id"], false, std::move(reply));
                });
    router_.add("PUT", "/v1/inventory", [this](HttpRequest r, const RouteParameters&, Reply reply) {
        put_inventory(r, std::move(reply));
    });
    router_.add("GET", "/v1/state", [this](HttpRequest, const RouteParameters&, Reply reply) {
        reply.answer(json(ok, state_json(parts_.service, parts_.around, parts_.bus, parts_.journal)));
    });
    add_health(router_);
    add_health(health_router_);
}

void Api::add_health(net::Router& router) {
    using net::HttpRequest;
    using net::Reply;
    using net::RouteParameters;
    router.add("GET", "/healthz",
               [](HttpRequest, const RouteParameters&, Reply reply) { reply.answer(text(ok, "ok\n")); });
    router.add("GET", "/readyz",
               [this](HttpRequest, const RouteParameters&, Reply reply) { ready(std::move(reply)); });
    if (parts_.metrics) {
        router.add("GET", "/metrics", [this](HttpRequest, const RouteParameters&, Reply reply) {
            net::HttpResponse response = text(ok, parts_.metrics());
            response.content_type = "text/plain; version=0.0.4; charset=utf-8";
            reply.answer(std::move(response));
        });
    }
}

void Api::handle(net::HttpRequest request, net::Reply reply) {
    if (auto refusal = parts_.access.refusal(request)) {
        reply.answer(std::move(*refusal));
        return;
    }
    router_.route(std::move(request), std::move(reply));
}

void Api::published() {
    const decision::DecisionRecord* current = parts_.service.coordinator().current();
    if (current == nullptr || current->decision_id == newest_seen_) return;
    newest_seen_ = current->decision_id;
    waiters_.published([this](DecisionId after) { return parts_.service.coordinator().first_after(after); });
}

void Api::next_decision(const net::HttpRequest& request, net::Reply reply) {
    const Result<NextQuery> query = next_query(request);
    if (!query) {
        reply.answer(net::error_response(bad_request, query.error().message));
        return;
    }
    if (const auto* record = parts_.service.coordinator().first_after(query->after)) {
        reply.answer(json(ok, decision_json(*record)));
        return;
    }
    if (query->wait <= Seconds{0.0}) {
        reply.answer(json(no_content, ""));
        return;
    }
    const auto waiting = std::make_shared<net::Reply>(std::move(reply));
    const auto ticket = waiters_.add(query->after, parts_.service.now() + query->wait,
                                     [waiting](const decision::DecisionRecord* record) {
                                         if (record != nullptr) {
                                             waiting->answer(json(ok, decision_json(*record)));
                                         } else {
                                             waiting->answer(json(no_content, ""));
                                         }
                                     });
    if (!ticket) {
        waiting->answer(net::error_response(unavailable,
                                            "too many clients wait for a decision already: ask again later"));
        return;
    }
    waiting->on_gone([this, ticket = *ticket] { waiters_.drop(ticket); });
}

void Api::list_decisions(net::Reply reply) {
    std::string body = R"({"decisions":[)";
    bool first = true;
    for (const decision::DecisionRecord& record : parts_.service.coordinator().records()) {
        if (!std::exchange(first, false)) body += ',';
        body += decision_json(record);
    }
    body += "]}";
    reply.answer(json(ok, std::move(body)));
}

void Api::show_decision(const std::string& id, net::Reply reply) {
    const Result<DecisionId> number = decision_id(id);
    if (!number) {
        reply.answer(net::error_response(bad_request, number.error().message));
        return;
    }
    const decision::DecisionRecord* record = parts_.service.coordinator().find(*number);
    if (record == nullptr) {
        reply.answer(
            net::error_response(not_found, "decision " + id + " is not known, or too old to be kept"));
        return;
    }
    reply.answer(json(ok, decision_json(*record)));
}

void Api::settle(const std::string& id, bool completed, net::Reply reply) {
    const Result<DecisionId> number = decision_id(id);
    if (!number) {
        reply.answer(net::error_response(bad_request, number.error().message));
        return;
    }
    if (!parts_.service.leading() || !parts_.service.coordinator().restored()) {
        reply.answer(standing_by());
        return;
    }
    const auto waiting = std::make_shared<net::Reply>(std::move(reply));
    const auto answer = [waiting, id = *number](const decision::Settlement& settled) {
        waiting->answer(settlement_response(settled, id));
    };
    if (completed) {
        parts_.service.complete(*number, answer);
    } else {
        parts_.service.fail(*number, answer);
    }
}

void Api::put_inventory(const net::HttpRequest& request, net::Reply reply) {
    Result<std::vector<InventoryRead>> roles =
        inventory_of(request.body, parts_.service.planner().config().mode);
    if (!roles) {
        reply.answer(net::error_response(bad_request, roles.error().message));
        return;
    }
    for (const InventoryRead& role : *roles) parts_.service.take(EventBody{role});
    reply.answer(json(no_content, ""));
}

void Api::ready(net::Reply reply) {
    const std::vector<Missing> missing = parts_.service.missing();
    reply.answer(json(missing.empty() ? ok : unavailable, missing_json(missing)));
}

}  // namespace dynaplan::runtime
