#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "api/access/client_keys.hpp"
#include "api/access/key_ring.hpp"
#include "net/http_message.hpp"
#include "api/options.hpp"
#include "domain/time.hpp"
#include "engine/clock.hpp"

namespace api::access {

// Who may come in. Two doors: the relayer routes (/v2, /v3), which take a key as `x-api-key: KEY`,
// `Authorization: Bearer KEY` or cookie `x-api-key=KEY` (sdk-client-contract 6), and the share
// routes, which take it as `X-Helper-Token: KEY` (share-helper 1). A door without keys is open and
// looks at no header; everything beside the doors is open. A request that shows different keys at
// once shows none. Any thread; never blocks.
class Gatekeeper {
public:
    // Throws std::runtime_error that says what is wrong with a file of keys.
    Gatekeeper(const Options& options, const engine::Clock& clock);

    // Changes nothing, however often it is asked.
    [[nodiscard]] bool may_enter(const net::HttpRequest& head) const;

    // Who showed a key that is good; nothing at an open door.
    [[nodiscard]] std::optional<Client> client_of(const net::HttpRequest& head) const;

    // Takes one of the client's requests: ask once for each. Nothing: it goes on. Otherwise how
    // long it has to wait. Only POSTs are counted: a client treats a limited GET as the end of its
    // call (sdk-client-contract 1.6).
    [[nodiscard]] std::optional<domain::Nanoseconds> refused(const net::HttpRequest& head);

    // The doors whose keys are in a file, to be read again.
    [[nodiscard]] std::vector<std::reference_wrapper<KeyRing>> reloadable();

private:
    // Nothing: an open door, or none.
    [[nodiscard]] const KeyRing* door_of(std::string_view path) const;
    [[nodiscard]] std::shared_ptr<const ClientKey> key_for(const KeyRing& door,
                                                           const net::HttpRequest& head) const;

    const engine::Clock& clock_;
    KeyRing clients_;
    KeyRing share_tokens_;
};

}  // namespace api::access
