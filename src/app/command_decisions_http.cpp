#include "app/command_decisions_http.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "net/http_client.hpp"

namespace dynaplan::app {

namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;

// On top of the time that a long poll is meant to take.
constexpr milliseconds answer_bound{10'000};
// A list of 128 decisions with their reasons has some 200 kB.
constexpr std::size_t answer_max = std::size_t{16} << 20U;

std::string text_of(const ordered_json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<std::int64_t> count_of(const ordered_json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

std::optional<SeenDecision> decision_of(const ordered_json& object) {
    if (!object.is_object()) return std::nullopt;
    const auto id = count_of(object, "decision_id");
    if (!id || *id < 0) return std::nullopt;
    SeenDecision seen;
    seen.id = *id;
    seen.state = text_of(object, "state");
    seen.prefill = count_of(object, "prefill");
    seen.decode = count_of(object, "decode");
    seen.reason = text_of(object, "reason");
    seen.published_at = text_of(object, "published_at");
    seen.json = object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    return seen;
}

ordered_json parsed(const std::string& body) { return ordered_json::parse(body, nullptr, false); }

Trouble strange(const std::string& what) {
    return {Trouble::Kind::refused, what + ": the answer is not one of Dynaplan's: is --url right?"};
}

class HttpSource final : public DecisionSource {
public:
    HttpSource(net::HttpClient client, std::string url) : client_{std::move(client)}, url_{std::move(url)} {}

    void standing(Done<Standing> done) override {
        ask("GET", "/v1/state", {}, [done = std::move(done)](const Answer<Got>& got) {
            if (!got) return done(tl::unexpected{got.error()});
            const ordered_json state = parsed(got->response.body);
            if (!state.is_object() || !state.contains("leader") || !state.contains("decision"))
                return done(tl::unexpected{strange(got->what)});
            Standing standing;
            const auto store = state.find("store");
            const bool read = store != state.end() && store->is_object() && text_of(*store, "state") == "ok";
            standing.leading = state["leader"] == true && read;
            standing.newest = decision_of(state["decision"]);
            done(std::move(standing));
        });
    }

    void next(DecisionId after, milliseconds wait, Done<std::optional<SeenDecision>> done) override {
        const std::string target = "/v1/decisions/next?after=" + std::to_string(after) +
                                   "&wait=" + std::to_string(wait.count()) + "ms";
        ask("GET", target, wait, one(std::move(done), no_content));
    }

    void all(Done<std::vector<SeenDecision>> done) override {
        ask("GET", "/v1/decisions", {}, [done = std::move(done)](const Answer<Got>& got) {
            if (!got) return done(tl::unexpected{got.error()});
            const ordered_json list = parsed(got->response.body);
            if (!list.is_object() || !list.contains("decisions") || !list["decisions"].is_array())
                return done(tl::unexpected{strange(got->what)});
            std::vector<SeenDecision> seen;
            for (const ordered_json& item : list["decisions"]) {
                auto decision = decision_of(item);
                if (!decision) return done(tl::unexpected{strange(got->what)});
                seen.push_back(std::move(*decision));
            }
            done(std::move(seen));
        });
    }

    void find(DecisionId id, Done<std::optional<SeenDecision>> done) override {
        ask("GET", "/v1/decisions/" + std::to_string(id), {}, one(std::move(done), not_found));
    }

    void settle(DecisionId id, bool completed, Done<SeenDecision> done) override {
        const std::string target =
            "/v1/decisions/" + std::to_string(id) + (completed ? "/complete" : "/fail");
        ask("POST", target, {}, [done = std::move(done)](const Answer<Got>& got) {
            if (!got) return done(tl::unexpected{got.error()});
            auto decision = decision_of(parsed(got->response.body));
            if (!decision) return done(tl::unexpected{strange(got->what)});
            done(std::move(*decision));
        });
    }

    void stop() override { client_.cancel(call_); }

private:
    static constexpr unsigned no_content = 204;
    static constexpr unsigned not_found = 404;

    struct Got {
        net::HttpResponse response;
        std::string what;  // the request, for messages
    };
    using OnGot = std::function<void(Answer<Got>)>;

    // A decision, or none where the status is `empty`.
    static OnGot one(Done<std::optional<SeenDecision>> done, unsigned empty) {
        return [done = std::move(done), empty](const Answer<Got>& got) {
            if (!got) return done(tl::unexpected{got.error()});
            if (got->response.status == empty) return done(std::optional<SeenDecision>{});
            auto decision = decision_of(parsed(got->response.body));
            if (!decision) return done(tl::unexpected{strange(got->what)});
            done(std::move(decision));
        };
    }

    void ask(const std::string& method, const std::string& target, milliseconds wait, OnGot done) {
        net::ClientRequest request;
        request.method = method;
        request.target = target;
        request.timeout = wait + answer_bound;
        request.repeatable = true;
        const std::string what = method + " " + url_ + target.substr(0, target.find('?'));
        call_ = client_.request(std::move(request),
                                [what, done = std::move(done)](Result<net::HttpResponse> response) {
                                    done(judged(what, std::move(response)));
                                });
    }

    // 2xx, and 404 of Dynaplan's own, are answers; the rest is trouble.
    static Answer<Got> judged(const std::string& what, Result<net::HttpResponse> response) {
        using Kind = Trouble::Kind;
        if (!response) {
            return tl::unexpected{
                Trouble{Kind::unreachable, response.error().message +
                                               ": is `dynaplan serve` running there? Its address is "
                                               "http.listen: give --url or --config"}};
        }
        const unsigned status = response->status;
        const ordered_json body = parsed(response->body);
        const std::string error = body.is_object() ? text_of(body, "error") : std::string{};
        if (status / 100 == 2 || (status == not_found && error.starts_with("decision ")))
            return Got{std::move(*response), what};
        std::string message = what + ": " + std::to_string(status) + (error.empty() ? "" : ", ") + error;
        if (status == 401 || status == 403)
            return tl::unexpected{Trouble{Kind::refused, message + ": give --token-file"}};
        // 408, 429 and every 5xx: a stand-by, a full list of waiting clients, a proxy without its planner.
        const bool passes = status == 408 || status == 429 || status / 100 == 5;
        return tl::unexpected{Trouble{passes ? Kind::unavailable : Kind::refused, std::move(message)}};
    }

    net::HttpClient client_;
    std::string url_;
    net::HttpClient::CallId call_ = 0;
};

}  // namespace

Result<std::unique_ptr<DecisionSource>> open_http_source(boost::asio::io_context& loop,
                                                         const HttpPlace& place) {
    net::HttpClientOptions options;
    options.base_url = place.url;
    options.response_max = answer_max;
    auto client = net::HttpClient::create(loop, std::move(options));
    if (!client) return failure("--url: " + client.error().message);
    if (!place.token.empty()) client->set_bearer(place.token);
    std::string shown = place.url;
    while (shown.ends_with('/')) shown.pop_back();
    return std::make_unique<HttpSource>(std::move(*client), std::move(shown));
}

}  // namespace dynaplan::app
