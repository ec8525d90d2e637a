#include "bus/nats_library.hpp"

#include <string_view>

#include "bus/nats_key.hpp"

namespace dynaplan::bus {

namespace {

// A server that has gone quiet is noticed after three of these.
constexpr std::int64_t ping_interval_ms = 2000;
constexpr int pings_out_most = 2;

natsStatus sign(char**, unsigned char** signature, int* size, const char* nonce, void* seed) {
    return nats_Sign(static_cast<const std::string*>(seed)->c_str(), nonce, signature, size);
}

natsStatus set_login(natsOptions* settings, const NatsLogin& login, std::unique_ptr<std::string>& seed) {
    if (login.user && login.password)
        return natsOptions_SetUserInfo(settings, login.user->c_str(), login.password->c_str());
    if (login.token) return natsOptions_SetToken(settings, login.token->c_str());
    if (login.nkey_seed) {
        const auto key = nats_public_key(*login.nkey_seed);
        if (!key) return NATS_INVALID_ARG;
        seed = std::make_unique<std::string>(*login.nkey_seed);
        return natsOptions_SetNKey(settings, key->c_str(), sign, seed.get());
    }
    if (login.credentials_file)
        return natsOptions_SetUserCredentialsFromFiles(settings, login.credentials_file->c_str(), nullptr);
    return natsOptions_SetUserInfo(settings, "user", "user");
}

natsStatus set_tls(natsOptions* settings, const NatsOptions& options) {
    natsStatus status = natsOptions_SetSecure(settings, true);
    if (status == NATS_OK && options.tls_ca_path)
        status = natsOptions_LoadCATrustedCertificates(settings, options.tls_ca_path->c_str());
    if (status == NATS_OK && options.tls_insecure) return natsOptions_SkipServerVerification(settings, true);
    if (status == NATS_OK)
        status = natsOptions_SetExpectedHostname(settings, host_of(options.server).c_str());
    return status;
}

// A status with the library's words for it, on one line, without the place in its source that they begin
// with.
std::string with_words(natsStatus status, const char* words) {
    std::string text = natsStatus_GetText(status);
    std::string_view more = words != nullptr ? words : "";
    const std::size_t place = more.find("): ");
    if (more.starts_with('(') && place != std::string_view::npos) more.remove_prefix(place + 3);
    if (!more.empty() && more != text) text.append(" (").append(more).append(")");
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return text;
}

}  // namespace

std::string text_of(natsStatus status) {
    natsStatus last = NATS_OK;
    const char* words = nats_GetLastError(&last);
    return with_words(status, last == status ? words : nullptr);
}

std::string last_error(natsConnection* connection) {
    const char* words = nullptr;
    const natsStatus status = natsConnection_GetLastError(connection, &words);
    if (status == NATS_OK) return {};
    return with_words(status, natsConnection_IsClosed(connection) ? words : nullptr);
}

Result<NatsSettings> NatsSettings::make(const NatsOptions& options) {
    NatsSettings made;
    natsOptions* settings = nullptr;
    natsStatus status = natsOptions_Create(&settings);
    made.settings_.reset(settings);
    const auto then = [&](auto&& set) {
        if (status == NATS_OK) status = set();
    };
    then([&] { return natsOptions_SetURL(settings, options.server.c_str()); });
    then([&] { return natsOptions_SetName(settings, "dynaplan"); });
    then([&] { return natsOptions_SetTimeout(settings, options.connect_timeout.count()); });
    then([&] { return natsOptions_SetAllowReconnect(settings, false); });
    then([&] { return natsOptions_SetPingInterval(settings, ping_interval_ms); });
    then([&] { return natsOptions_SetMaxPingsOut(settings, pings_out_most); });
    then([&] { return set_login(settings, options.login, made.seed_); });
    if (options.server.starts_with("tls://")) {
        then([&] { return set_tls(settings, options); });
    }
    if (status != NATS_OK) return failure(text_of(status));
    return made;
}

}  // namespace dynaplan::bus
