#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/url.hpp"

namespace net {

// Which proxy, if any, stands between us and a server. All of it is secret.
class Proxies {
public:
    Proxies() = default;  // none

    // From HTTPS_PROXY (for https and wss), HTTP_PROXY (http and ws) and NO_PROXY, or the same in
    // small letters, which win. An empty variable counts as none. Throws std::invalid_argument that
    // names the variable, without its value, when its URL is none.
    //
    // NO_PROXY is a list with commas: `*`, names (with all names below them, with or without a full
    // stop before), addresses, networks (10.0.0.0/8), each but the last perhaps with `:port`.
    [[nodiscard]] static Proxies from_environment(
        const std::vector<std::pair<std::string, std::string>>& environment);

    // Null: directly. So it always is to localhost, loopback and link-local addresses.
    [[nodiscard]] const Url* proxy_for(const Url& url) const;

private:
    [[nodiscard]] bool excepts(const Url& url) const;

    std::optional<Url> for_tls_;
    std::optional<Url> for_plain_;
    std::vector<std::string> exceptions_;  // the entries of NO_PROXY, in small letters
};

}  // namespace net
