#include "app/config_lists.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "app/config_words.hpp"

namespace dynaplan::app {
namespace {

using Problems = std::vector<PlacedProblem>;

// One field of the file that holds a list; its items are named by their place in it.
class ListReader {
public:
    ListReader(const Setting& setting, Problems& problems) : setting_{setting}, problems_{problems} {}

    void texts(std::vector<std::string>& out) {
        std::vector<std::string> read;
        for (std::size_t i = 0; i < setting_.node.items.size(); ++i) {
            const Node& item = setting_.node.items[i];
            if (auto text = text_item(item, at(i))) read.push_back(std::move(*text));
        }
        out = std::move(read);
    }

    void pairs(std::map<std::string, std::string>& out) {
        std::map<std::string, std::string> read;
        for (std::size_t i = 0; i < setting_.node.items.size(); ++i) {
            const std::string& key = setting_.node.keys[i];
            const std::string where = "." + printable(key);
            if (auto text = text_item(setting_.node.items[i], where)) {
                if (!read.emplace(key, std::move(*text)).second) {
                    problem(setting_.node.items[i], where, "is given twice");
                }
            }
        }
        out = std::move(read);
    }

    void endpoints(std::vector<BusEndpoint>& out) {
        std::vector<BusEndpoint> read;
        for (std::size_t i = 0; i < setting_.node.items.size(); ++i) {
            if (auto endpoint = endpoint_item(setting_.node.items[i], at(i)))
                read.push_back(std::move(*endpoint));
        }
        out = std::move(read);
    }

    void problem(const Node& node, const std::string& where, const std::string& what) {
        const int line = setting_.origin.line == 0 ? 0 : std::max(node.line, setting_.origin.line);
        problems_.push_back({setting_.origin.place, line, setting_.origin.name + where + ": " + what});
    }

private:
    static std::string at(std::size_t i) { return "[" + std::to_string(i) + "]"; }

    std::optional<std::string> text_item(const Node& item, const std::string& where) {
        if (item.kind != Node::Kind::scalar || std::holds_alternative<std::monostate>(item.scalar)) {
            problem(item, where, "must be text");
            return std::nullopt;
        }
        return text_of(item.scalar);
    }

    std::optional<BusEndpoint> endpoint_item(const Node& item, const std::string& where) {
        BusEndpoint endpoint;
        bool good = false;
        if (item.kind == Node::Kind::list) {
            problem(item, where, "must be {url, role, worker_id} or a url");
        } else if (item.kind == Node::Kind::map) {
            good = endpoint_map(item, where, endpoint);
        } else if (auto url = text_item(item, where)) {
            good = true;
            endpoint.url = std::move(*url);
            check_url(item, where, endpoint.url, good);
        }
        return good ? std::optional{std::move(endpoint)} : std::nullopt;
    }

    bool endpoint_map(const Node& item, const std::string& where, BusEndpoint& endpoint) {
        bool good = true;
        bool has_url = false;
        bool has_role = false;
        bool has_worker = false;
        for (std::size_t i = 0; i < item.items.size(); ++i) {
            const std::string& key = item.keys[i];
            const std::string name = where + "." + printable(key);
            if ((key == "url" && has_url) || (key == "role" && has_role) ||
                (key == "worker_id" && has_worker)) {
                problem(item.items[i], name, "is given twice");
                good = false;
                continue;
            }
            if (key != "url" && key != "role" && key != "worker_id") {
                const std::vector<std::string> names{"url", "role", "worker_id"};
                const auto near = nearest_name(key, names);
                problem(item.items[i], name,
                        "no such field" + (near.empty() ? "" : "; did you mean " + near + "?"));
                good = false;
                continue;
            }
            const auto text = text_item(item.items[i], name);
            if (!text) {
                good = false;
            } else if (key == "url") {
                endpoint.url = *text;
                has_url = true;
            } else if (key == "worker_id") {
                endpoint.worker_id = *text;
                has_worker = true;
            } else if (const auto role = role_from(*text)) {
                endpoint.role = role;
                has_role = true;
            } else {
                problem(item.items[i], name,
                        "must be prefill, decode or agg, not \"" + printable(*text) + "\"");
                good = false;
            }
        }
        if (!has_url) {
            problem(item, where, "has no url");
            return false;
        }
        check_url(item, where, endpoint.url, good);
        return good;
    }

    void check_url(const Node& item, const std::string& where, const std::string& url, bool& good) {
        if (good_url(url)) return;
        problem(item, where, "url must be tcp://host:port or ipc://path, not \"" + printable(url) + "\"");
        good = false;
    }

    static bool good_url(const std::string& url) {
        const auto starts = [&url](std::string_view prefix) { return url.rfind(prefix, 0) == 0; };
        if (starts("ipc://")) return url.size() > 6;
        if (starts("inproc://")) return url.size() > 9;
        if (!starts("tcp://")) return false;
        const auto address = host_port(url.substr(6));
        return address && address->port > 0;
    }

    const Setting& setting_;
    Problems& problems_;
};

}  // namespace

void take_list(const ListField& f, const Setting& s, AppConfig& config,
               std::vector<PlacedProblem>& problems) {
    ListReader reader{s, problems};
    const bool wants_map = f.pairs != nullptr;
    const bool none =
        s.node.kind == Node::Kind::scalar && std::holds_alternative<std::monostate>(s.node.scalar);
    if (!none && s.node.kind != (wants_map ? Node::Kind::map : Node::Kind::list)) {
        reader.problem(s.node, "", wants_map ? "must be a map of texts" : "must be a list");
        return;
    }
    if (f.texts != nullptr) reader.texts(f.texts(config));
    if (f.endpoints != nullptr) reader.endpoints(f.endpoints(config));
    if (f.pairs != nullptr) reader.pairs(f.pairs(config));
}

std::string list_text(const ListField& f, const AppConfig& config) {
    AppConfig copy = config;  // the accessors are for writing
    nlohmann::ordered_json json;
    if (f.texts != nullptr) json = f.texts(copy);
    if (f.pairs != nullptr) json = f.pairs(copy);
    if (f.endpoints != nullptr) {
        json = nlohmann::ordered_json::array();
        for (const BusEndpoint& e : f.endpoints(copy)) {
            nlohmann::ordered_json one{{"url", e.url}};
            if (e.role) one["role"] = to_string(*e.role);
            if (e.worker_id) one["worker_id"] = *e.worker_id;
            json.push_back(one);
        }
    }
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::optional<HostPort> host_port(const std::string& listen) {
    const auto colon = listen.rfind(':');
    if (colon == std::string::npos || colon == 0) return std::nullopt;
    HostPort out{listen.substr(0, colon), 0};
    const char* first = listen.data() + colon + 1;
    const char* last = listen.data() + listen.size();
    const auto [end, error] = std::from_chars(first, last, out.port);
    if (error != std::errc{} || end != last || out.port < 0 || out.port > 65535) return std::nullopt;
    return out;
}

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host == "[::1]" || host.rfind("127.", 0) == 0;
}

}  // namespace dynaplan::app
