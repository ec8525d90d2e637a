#include "app/command_decisions_place.hpp"

#include <CLI/CLI.hpp>

#include <sstream>
#include <utility>
#include <vector>

#include "app/command_decisions_etcd.hpp"
#include "app/command_decisions_http.hpp"
#include "app/config_load.hpp"
#include "app/files.hpp"

namespace dynaplan::app {

namespace {

constexpr std::uint64_t token_max = 4096;  // bytes of the file, as net::Access reads it

Result<std::string> token_of(const std::string& path) {
    auto file = InputFile::open(path);
    if (!file) return failure("token file: " + file.error().message);
    const auto text = file->read_all(token_max);
    if (!text) return failure("token file: " + text.error().message);
    constexpr const char* white = " \t\r\n";
    const auto first = text->find_first_not_of(white);
    if (first == std::string::npos) return failure("token file: " + path + ": holds no token");
    return text->substr(first, text->find_last_not_of(white) - first + 1);
}

// Where a planner that listens there can be reached from its own machine.
Result<std::string> url_of(const HttpConfig& http) {
    const auto listen = host_port(http.listen);
    if (!listen) return failure("http.listen is '" + http.listen + "': there is no address; give --url");
    if (listen->port == 0) {
        return failure("http.listen is '" + http.listen +
                       "': the port is chosen when serve starts, which prints it; give --url");
    }
    std::string host = listen->host;
    if (host.empty() || host == "0.0.0.0") host = "127.0.0.1";
    if (host == "[::]" || host == "::") host = "[::1]";
    if (host.find(':') != std::string::npos && !host.starts_with('[')) host = '[' + host + ']';
    return "http://" + host + ':' + std::to_string(listen->port);
}

Result<AppConfig> config_of(const std::optional<std::string>& path) {
    if (!path) return AppConfig{};
    ConfigRequest request;
    request.config = path;
    request.environment = process_environment();
    LoadedConfig loaded = load_config(request);
    std::string problems;
    for (const std::string& problem : loaded.problems) problems += (problems.empty() ? "" : "\n") + problem;
    if (!loaded.ok()) return failure(problems);
    return std::move(loaded.config);
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    std::istringstream text{list};
    for (std::string part; std::getline(text, part, ',');)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

// Who we are there comes from the environment, as with the existing clients.
Result<EtcdPlace> etcd_place_of(const PlaceOptions& options, const AppConfig& config) {
    const Environment environment = process_environment();
    auto etcd = net::etcd_options_from(environment);
    if (!etcd) return tl::unexpected{etcd.error()};
    EtcdPlace place;
    place.options = std::move(*etcd);
    place.options.endpoints = split(*options.etcd);
    if (place.options.endpoints.empty()) return failure("--etcd: give an address, as http://127.0.0.1:2379");
    place.name_space = options.config ? config.deployment.dynamo_namespace
                                      : environment("DYN_NAMESPACE").value_or(place.name_space);
    if (options.name_space) place.name_space = *options.name_space;
    return place;
}

Result<HttpPlace> http_place_of(const PlaceOptions& options, const HttpConfig& http) {
    HttpPlace place;
    if (options.url) {
        place.url = *options.url;
    } else {
        const auto url = url_of(http);
        if (!url) return tl::unexpected{url.error()};
        place.url = *url;
    }
    const auto token_file = options.token_file ? options.token_file : http.token_file;
    if (token_file) {
        const auto token = token_of(*token_file);
        if (!token) return tl::unexpected{token.error()};
        place.token = *token;
    }
    return place;
}

}  // namespace

void PlaceOptions::add_to(CLI::App& app) {
    auto* planner = app.add_option("--url", url,
                                   "The planner's address (default: http.listen of --config, else "
                                   "http://127.0.0.1:9086)")
                        ->type_name("URL");
    app.add_option("--token-file", token_file,
                   "File with the token, where the planner wants one (default: "
                   "http.token_file of --config)")
        ->type_name("FILE");
    app.add_option("--config", config, "The planner's configuration, for its address and token")
        ->type_name("FILE");
    app.add_option(
           "--etcd", etcd,
           "Read and acknowledge on the keys in etcd instead; ETCD_AUTH_* in the environment says who "
           "we are")
        ->type_name("URL,...")
        ->excludes(planner);
    app.add_option("--namespace", name_space,
                   "Dynamo's namespace of those keys (default: of --config, else DYN_NAMESPACE, else dynamo)")
        ->type_name("NAME");
}

Result<std::unique_ptr<DecisionSource>> open_source(boost::asio::io_context& loop,
                                                    const PlaceOptions& options) {
    const auto config = config_of(options.config);
    if (!config) return tl::unexpected{config.error()};
    if (options.etcd) {
        const auto place = etcd_place_of(options, *config);
        if (!place) return tl::unexpected{place.error()};
        return open_etcd_source(loop, *place);
    }
    const auto place = http_place_of(options, config->http);
    if (!place) return tl::unexpected{place.error()};
    return open_http_source(loop, *place);
}

}  // namespace dynaplan::app
