// Who may change something over HTTP. On a loopback address everybody may, unless a token file is given; on
// any other address a mutating call needs the token, and without a token file the server must not start.
// Reading needs no token. TLS is a proxy's work.
//
// The token is the content of the file without white space at its ends. The file is read at each mutating
// call, which are rare: a token can be replaced without a restart, and no change is missed because a file's
// times are coarse. A file that has gone, is empty, or cannot be read admits nobody: taking a token away must
// take effect.
//
// Reads a small file on the calling thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.hpp"
#include "net/http_message.hpp"

namespace dynaplan::net {

// Does the method change something (everything but GET, HEAD and OPTIONS)?
[[nodiscard]] bool is_mutating(std::string_view method);

class Access {
public:
    // Fails when mutating calls are served on an address that is not loopback and no token file is given, and
    // when a token file that is given has no usable token now. `setting` names the setting in messages.
    static Result<Access> create(std::string_view listen_host, std::string token_file,
                                 bool serves_mutating_calls, std::string_view setting = "http.listen");

    // Nothing when the request may pass; else the 401 to answer. The comparison takes the same time wherever
    // the tokens differ.
    [[nodiscard]] std::optional<HttpResponse> refusal(const HttpRequest& request) const;

    [[nodiscard]] bool token_needed() const { return !token_file_.empty(); }

private:
    using Digest =
        std::array<unsigned char, 32>;  // SHA-256: whatever the tokens are, equal lengths are compared

    explicit Access(std::string token_file) : token_file_{std::move(token_file)} {}
    [[nodiscard]] Result<Digest> token() const;

    std::string token_file_;
};

}  // namespace dynaplan::net
