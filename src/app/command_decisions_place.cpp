#include "app/command_decisions_place.hpp"

#include <CLI/CLI.hpp>

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

}  // namespace

void PlaceOptions::add_to(CLI::App& app) {
    app.add_option("--url", url,
                   "The planner's address (default: http.listen of --config, else "
                   "http://127.0.0.1:9086)")
        ->type_name("URL");
    app.add_option("--token-file", token_file,
                   "File with the token, where the planner wants one (default: "
                   "http.token_file of --config)")
        ->type_name("FILE");
    app.add_option("--config", config, "The planner's configuration, for its address and token")
        ->type_name("FILE");
}

Result<HttpPlace> place_of(const PlaceOptions& options) {
    HttpConfig http;
    if (options.config) {
        ConfigRequest request;
        request.config = options.config;
        request.environment = process_environment();
        const LoadedConfig loaded = load_config(request);
        std::string problems;
        for (const std::string& problem : loaded.problems)
            problems += (problems.empty() ? "" : "\n") + problem;
        if (!loaded.ok()) return failure(problems);
        http = loaded.config.http;
    }
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

}  // namespace dynaplan::app
