#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/access/options.hpp"
#include "domain/bytes.hpp"

namespace api {

// What the HTTP application may be told. The names in brackets are the reference's keys.
struct Options {
    // GET /version (`APP_NAME`, `version`, `build`).
    std::string app_name = "relayer-service";
    std::string version = "0.1.0";
    std::string build = "no_git_hash-no_git_dirty";

    // Chains whose handles may be decrypted [host_chains[].chain_id].
    std::vector<std::uint64_t> host_chain_ids{8009};

    // EIP-712 verifying contract of user decryptions [gateway.contracts.decryption_address].
    domain::Address decryption_address{0x26, 0xd7, 0x98, 0xaa, 0x41, 0xc6, 0xaf, 0x4e, 0xfd, 0x0b,
                                       0x54, 0x8b, 0x0f, 0xa9, 0x66, 0x8e, 0xa1, 0x57, 0x58, 0x65};

    // Seconds, at least 1. Retry-After of every 429 [http.api_retry_after_seconds].
    std::uint32_t api_retry_after_seconds = 4;

    // Bytes of one request body. Relayer routes 2 MiB, share route 1 MiB in the reference.
    std::size_t relayer_body_bytes_max = 2'097'152;
    std::size_t share_body_bytes_max = 1'048'576;

    // True: the share routes answer 503 `helper unavailable` [helper.disable].
    bool share_disable = false;

    // Serve GET /shielded-vote/v1/queue-status [helper.expose_queue_status].
    bool share_expose_queue_status = false;
    // Log shares as they come, with their time, at level info [helper.expose_timing].
    bool share_expose_timing = false;

    access::Options access;

    // How many vote rounds are remembered in memory, at least 1.
    std::size_t share_rounds_max = 1'024;

    // Polls that wait for the end of their job at the same time, and how long one may wait.
    std::size_t long_polls_max = 1'024;
    std::chrono::seconds long_poll_wait_max{60};

    // Whether /admin/config has a listener of its own; here it is refused in any case
    // [http.enable_admin_endpoint].
    bool admin_enabled = false;

    // Value of Access-Control-Allow-Origin; empty: no CORS headers, no preflight.
    std::string cors_allow_origin;
};

}  // namespace api
