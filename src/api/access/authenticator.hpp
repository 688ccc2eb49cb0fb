#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/access/client_keys.hpp"
#include "api/access/key_store.hpp"
#include "api/access/options.hpp"
#include "domain/time.hpp"
#include "net/http_message.hpp"
#include "ports/clock.hpp"

namespace api::access {

// What let a request in, found out once.
struct Pass {
    const KeyStore* realm = nullptr;       // nothing: an open realm, or none
    std::shared_ptr<const ClientKey> key;  // nothing: no realm asked for one
    bool key_in_cookie = false;            // and nowhere else

    // 0: nobody known.
    [[nodiscard]] std::int64_t client_id() const {
        return key ? static_cast<std::int64_t>(key->client.id) : 0;
    }
};

// Who may come in. Two realms: the relayer routes (/v2, /v3), which take a key as `x-api-key: KEY`,
// `Authorization: Bearer KEY` or cookie `x-api-key=KEY` (sdk-client-contract 6), and the share
// routes, which take it as `X-Helper-Token: KEY` (share-helper 1). A realm without keys is open and
// looks at no header; everything beside the realms is open. A request that shows different keys at
// once shows none. Any thread; never blocks.
class Authenticator {
public:
    // Throws std::runtime_error that says what is wrong with a file of keys.
    Authenticator(const Options& options, const ports::Clock& clock);

    // Hashes the key that the request shows. Nothing: it may not come in.
    [[nodiscard]] std::optional<Pass> admit(const net::HttpRequest& head) const;

    // Whether the key is still one of the realm's. Hashes nothing.
    [[nodiscard]] bool is_valid(const Pass& pass) const;

    // Takes one of the client's requests: ask once for each. Nothing: it goes on. Otherwise how
    // long it has to wait. Only POSTs are counted: a client treats a limited GET as the end of its
    // call (sdk-client-contract 1.6).
    [[nodiscard]] std::optional<domain::Nanoseconds> refused(const Pass& pass,
                                                             std::string_view method) const;

    // Whose id this is, in either realm; empty: nobody's now.
    [[nodiscard]] std::string client_name(std::int64_t id) const;

    // The realms whose keys are in a file, to be read again.
    [[nodiscard]] std::vector<std::reference_wrapper<KeyStore>> reloadable();

private:
    // Nothing: an open realm, or none.
    [[nodiscard]] const KeyStore* realm_of(std::string_view path) const;

    const ports::Clock& clock_;
    KeyStore clients_;
    KeyStore share_tokens_;
};

}  // namespace api::access
