#include "net/etcd_client.hpp"

#include <boost/asio/post.hpp>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "net/etcd_json.hpp"
#include "net/http_client.hpp"

namespace dynaplan::net {

namespace {

namespace asio = boost::asio;
using Answer = EtcdResult<std::string>;  // the body of a success

// Requests that wait for a token or for an endpoint that answers; more are refused.
constexpr std::size_t waiting_max = 1024;

EtcdFailure not_sent(std::string message) { return {EtcdFault::unreachable, 0, std::move(message)}; }

struct Request {
    std::string path;
    std::string body;
    bool repeatable = true;  // may reach the store twice
    EtcdClient::Timeout timeout;
    std::function<void(Answer)> done;
    std::size_t attempts = 0;     // endpoints that were tried
    std::uint64_t token_age = 0;  // the number of the token that it was sent with
    bool renewed = false;         // has had its second token
};

// An answer's text read by `read`, or the failure.
template <class T, class Read>
std::function<void(Answer)> reading(std::function<void(EtcdResult<T>)> done, Read read) {
    return [done = std::move(done), read](Answer answer) {
        if (!answer) return done(tl::unexpected{std::move(answer.error())});
        auto value = read(*answer);
        // What was asked for was carried out, but the answer is not to be understood.
        if (!value) return done(tl::unexpected{EtcdFailure{EtcdFault::lost, 0, value.error().message}});
        done(std::move(*value));
    };
}

}  // namespace

class EtcdClient::Impl : public std::enable_shared_from_this<Impl> {
public:
    Impl(asio::io_context& loop, EtcdOptions o, std::vector<std::string> u, std::vector<HttpClient> clients)
        : options{std::move(o)}, loop_{loop}, urls_{std::move(u)}, clients_{std::move(clients)} {}

    void submit(Request request) {
        if (needs_token()) return wait(std::move(request), waiting_for_token_, [this] { authenticate(); });
        if (!request.repeatable && doubtful_)
            return wait(std::move(request), waiting_for_probe_, [this] { probe(); });
        send(std::move(request));
    }

    WatchId watch(const EtcdSpan& span, std::int64_t from_revision, WatchCallbacks callbacks) {
        const WatchId id = next_watch_++;
        const std::size_t at = current_;
        ++counts.requests;
        HttpClient::Stream stream;
        // Copies are called: a callback may cancel the watch, and so drop what holds it.
        stream.on_line = [weak = weak_from_this(), id, at, callbacks](std::string_view line) {
            const auto self = weak.lock();
            if (!self || line.empty() || !self->watches_.contains(id)) return;
            const auto message = read_etcd_watch_line(line);
            if (message) return callbacks.on_message(*message);
            self->clients_[at].cancel(self->watches_.at(id).call);
            self->end_watch(id, at, message.error().message);
        };
        stream.on_end = [weak = weak_from_this(), id, at](const Result<HttpResponse>& answer) {
            const auto self = weak.lock();
            if (!self || !self->watches_.contains(id)) return;
            if (!answer) return self->end_watch(id, at, answer.error().message);
            if (answer->status == 200) return self->end_watch(id, at, "etcd ended the watch");
            const EtcdFailure refusal = etcd_refusal(answer->status, answer->body);
            ++self->counts.refused;
            // The listing that comes before the next watch asks for another.
            if (etcd_wants_token(refusal)) self->token_known_ = false;
            self->end_watch(id, at, "etcd refused the watch: " + refusal.message);
        };
        ClientRequest request{.method = "POST",
                              .target = "/v3/watch",
                              .body = etcd_watch_request(span, from_revision),
                              .repeatable = true};
        const auto call = clients_[at].stream(std::move(request), std::move(stream));
        watches_.emplace(id, Watch{at, call, std::move(callbacks.on_end)});
        return id;
    }

    void cancel(WatchId id) {
        const auto found = watches_.find(id);
        if (found == watches_.end()) return;
        clients_[found->second.at].cancel(found->second.call);
        watches_.erase(found);
    }

    [[nodiscard]] const std::string& endpoint() const { return urls_[current_]; }

    const EtcdOptions options;
    EtcdCounts counts;
    bool closed = false;  // its owner is gone

private:
    struct Watch {
        std::size_t at = 0;  // the endpoint
        HttpClient::CallId call = 0;
        std::function<void(std::string)> on_end;
    };
    using Waiting = std::deque<Request>;

    [[nodiscard]] bool needs_token() const { return !options.username.empty() && !token_known_; }

    // The first that waits begins what all wait for.
    template <class Begin>
    void wait(Request request, Waiting& waiting, Begin begin) {
        if (waiting.size() >= waiting_max) {
            asio::post(loop_, [done = std::move(request.done), weak = weak_from_this()] {
                if (weak.lock())
                    done(tl::unexpected{not_sent("etcd: more than " + std::to_string(waiting_max) +
                                                 " requests are waiting")});
            });
            return;
        }
        waiting.push_back(std::move(request));
        if (waiting.size() == 1) begin();
    }

    void release(Waiting& waiting, const std::optional<EtcdFailure>& why) {
        const auto released = std::exchange(waiting, {});
        const auto keep_alive = shared_from_this();
        for (Request request : released) {
            if (closed) return;  // one of them destroyed the client
            if (!why) {
                submit(std::move(request));
            } else {
                request.done(tl::unexpected{*why});
            }
        }
    }

    void authenticate() {
        ++counts.tokens;
        for (HttpClient& client : clients_) client.set_authorization({});
        Request request;
        request.path = "/v3/auth/authenticate";
        request.body = etcd_authenticate_request(options.username, options.password);
        request.renewed = true;  // no token is needed for one
        request.done = [weak = weak_from_this()](const Answer& answer) {
            const auto self = weak.lock();
            if (!self) return;
            const std::string place = "etcd: user " + self->options.username + " gets no token: ";
            if (!answer)
                return self->release(self->waiting_for_token_, not_sent(place + answer.error().message));
            const auto token = read_etcd_token(*answer);
            if (!token)
                return self->release(self->waiting_for_token_, not_sent(place + token.error().message));
            for (HttpClient& client : self->clients_) client.set_authorization(*token);
            self->token_known_ = true;
            ++self->token_age_;
            self->release(self->waiting_for_token_, std::nullopt);
        };
        send(std::move(request));
    }

    void probe() {
        Request request;
        request.path = "/v3/kv/range";
        request.body = etcd_probe_request();
        request.done = [weak = weak_from_this()](const Answer& answer) {
            const auto self = weak.lock();
            if (!self) return;
            // A refusal is an answer too: the user may not read this key.
            if (answer || answer.error().fault == EtcdFault::refused) {
                self->doubtful_ = false;
                return self->release(self->waiting_for_probe_, std::nullopt);
            }
            self->release(self->waiting_for_probe_, not_sent(answer.error().message));
        };
        submit(std::move(request));
    }

    void send(Request request) {
        const std::size_t at = current_;
        ++counts.requests;
        ++request.attempts;
        request.token_age = token_age_;
        ClientRequest sent{.method = "POST",
                           .target = request.path,
                           .body = request.body,
                           .timeout = request.timeout,
                           .repeatable = request.repeatable};
        clients_[at].request(std::move(sent), [weak = weak_from_this(), at, request = std::move(request)](
                                                  Result<HttpResponse> answer) mutable {
            if (const auto self = weak.lock()) self->on_answer(at, std::move(request), std::move(answer));
        });
    }

    void on_answer(std::size_t at, Request request, Result<HttpResponse> answer) {
        if (!answer) {
            fail_over(at);
            return repeat_or_fail(std::move(request), {EtcdFault::lost, 0, answer.error().message});
        }
        if (answer->status == 200) {
            if (at == current_) doubtful_ = false;
            return request.done(std::move(answer->body));
        }
        EtcdFailure refusal = etcd_refusal(answer->status, answer->body);
        if (etcd_wants_token(refusal) && !options.username.empty() && !request.renewed) {
            request.renewed = true;
            request.attempts = 0;
            if (request.token_age == token_age_) token_known_ = false;
            return submit(std::move(request));
        }
        refusal.message = urls_[at] + request.path + ": " + refusal.message;
        if (refusal.fault == EtcdFault::lost) {
            fail_over(at);
            return repeat_or_fail(std::move(request), std::move(refusal));
        }
        ++counts.refused;
        request.done(tl::unexpected{std::move(refusal)});
    }

    void repeat_or_fail(Request request, EtcdFailure failure) {
        if (request.repeatable && request.attempts < clients_.size()) return send(std::move(request));
        ++counts.lost;
        request.done(tl::unexpected{std::move(failure)});
    }

    void fail_over(std::size_t from) {
        doubtful_ = true;
        if (from != current_ || clients_.size() == 1) return;
        current_ = (current_ + 1) % clients_.size();
        ++counts.fail_overs;
    }

    void end_watch(WatchId id, std::size_t at, std::string why) {
        const auto on_end = std::move(watches_.at(id).on_end);
        watches_.erase(id);
        fail_over(at);
        on_end(urls_[at] + ": " + std::move(why));
    }

    asio::io_context& loop_;
    std::vector<std::string> urls_;
    std::vector<HttpClient> clients_;  // one for each endpoint
    std::size_t current_ = 0;
    bool doubtful_ = true;  // the endpoint in use has not answered since the last failure
    bool token_known_ = false;
    std::uint64_t token_age_ = 0;
    Waiting waiting_for_token_;
    Waiting waiting_for_probe_;
    std::map<WatchId, Watch> watches_;
    WatchId next_watch_ = 1;
};

Result<EtcdClient> EtcdClient::create(asio::io_context& loop, const EtcdOptions& options) {
    if (options.endpoints.empty()) return failure("etcd: no endpoint is given");
    std::vector<std::string> urls;
    std::vector<HttpClient> clients;
    for (const std::string& endpoint : options.endpoints) {
        auto url = etcd_endpoint_url(endpoint, options.tls);
        if (!url) return tl::unexpected{url.error()};
        HttpClientOptions http;
        http.base_url = *url;
        http.tls = options.tls;
        http.connect_timeout = options.connect_timeout;
        http.request_timeout = options.request_timeout;
        http.response_max = options.response_max;
        http.line_max = options.response_max;
        auto client = HttpClient::create(loop, std::move(http));
        if (!client) return failure("etcd endpoint \"" + endpoint + "\": " + client.error().message);
        urls.push_back(std::move(*url));
        clients.push_back(std::move(*client));
    }
    return EtcdClient{std::make_shared<Impl>(loop, options, std::move(urls), std::move(clients))};
}

EtcdClient::EtcdClient(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
EtcdClient::EtcdClient(EtcdClient&&) noexcept = default;
EtcdClient& EtcdClient::operator=(EtcdClient&& other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
}
EtcdClient::~EtcdClient() {
    if (impl_) impl_->closed = true;
}

void EtcdClient::list(const EtcdSpan& span, Done<EtcdListing> done) {
    impl_->submit({.path = "/v3/kv/range",
                   .body = etcd_range_request(span),
                   .timeout = {},
                   .done = reading(std::move(done), read_etcd_listing)});
}

void EtcdClient::transact(const EtcdTransaction& transaction, Done<EtcdTransactionAnswer> done) {
    impl_->submit({.path = "/v3/kv/txn",
                   .body = etcd_transaction_request(transaction),
                   .repeatable = false,
                   .timeout = {},
                   .done = reading(std::move(done), read_etcd_transaction)});
}

void EtcdClient::grant_lease(std::chrono::seconds ttl, Done<EtcdGrant> done, Timeout timeout) {
    // Asked for twice, it would leave a lease behind that ends by itself.
    impl_->submit({.path = "/v3/lease/grant",
                   .body = etcd_grant_request(ttl),
                   .timeout = timeout,
                   .done = reading(std::move(done), read_etcd_grant)});
}

void EtcdClient::keep_alive(std::int64_t lease, Done<std::optional<std::chrono::seconds>> done,
                            Timeout timeout) {
    impl_->submit({.path = "/v3/lease/keepalive",
                   .body = etcd_lease_request(lease),
                   .timeout = timeout,
                   .done = reading(std::move(done), read_etcd_keep_alive)});
}

void EtcdClient::revoke_lease(std::int64_t lease, Done<void> done, Timeout timeout) {
    constexpr int not_found = 5;
    impl_->submit({.path = "/v3/lease/revoke",
                   .body = etcd_lease_request(lease),
                   .timeout = timeout,
                   .done = [done = std::move(done)](Answer answer) {
                       if (answer || answer.error().code == not_found) return done({});
                       done(tl::unexpected{std::move(answer.error())});
                   }});
}

void EtcdClient::lease_time(std::int64_t lease, Done<EtcdLeaseTime> done) {
    impl_->submit({.path = "/v3/lease/timetolive",
                   .body = etcd_lease_time_request(lease),
                   .timeout = {},
                   .done = reading(std::move(done), read_etcd_lease_time)});
}

EtcdClient::WatchId EtcdClient::watch(const EtcdSpan& span, std::int64_t from_revision,
                                      WatchCallbacks callbacks) {
    return impl_->watch(span, from_revision, std::move(callbacks));
}

void EtcdClient::cancel(WatchId id) { impl_->cancel(id); }

const EtcdOptions& EtcdClient::options() const { return impl_->options; }
const EtcdCounts& EtcdClient::counts() const { return impl_->counts; }
const std::string& EtcdClient::endpoint() const { return impl_->endpoint(); }

}  // namespace dynaplan::net
