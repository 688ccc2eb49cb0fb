#include "commands/drill/settings.hpp"

namespace commands::drill {

namespace {

constexpr const char* rough_chain = R"(
[metrics]
endpoint = "127.0.0.1:0"

[engine]
maintenance_interval = "1s"
trouble_pause_max = "1s"
lease = "10s"

[gateway.tx_engine]
max_concurrency = 500
retry.retry_interval_ms = 50

[gateway.tx_engine.tx_throttlers]
input_proof = {per_seconds = 400}
user_decrypt = {per_seconds = 400}
public_decrypt = {per_seconds = 400}

[gateway.readiness_checker.gw_ciphertext_check.retry]
retry_interval_ms = 100

[helper]
max_concurrent_proofs = 100

[gateway.loopback]
readiness = ["10ms", "250ms"]
prepare = ["5ms", "80ms"]
proof = ["20ms", "150ms"]
confirmation = ["20ms", "400ms"]
response = ["20ms", "400ms"]
unreachable_checks = 50
late_readiness = 100
not_ready_tries = 2
unreachable_prepares = 50
unreachable_sends = 50
lost_replies = 100
early_answers = 100
duplicate_answers = 50
foreign_answers = 20
)";

}  // namespace

std::string config_of(const config::Settings& settings, std::uint64_t seed) {
    const store::Options& store = settings.store;
    const bool full = store.synchronous == store::Synchronous::full;
    return std::string("[storage]\nsynchronous = ") + (full ? "\"full\"" : "\"normal\"") +
           "\nwal_bytes_max = " + std::to_string(store.wal_bytes_max) +
           "\ncache_bytes = " + std::to_string(store.cache_bytes) +
           "\nallow_network_filesystem = " + (store.allow_network_filesystem ? "true" : "false") +
           "\n" + rough_chain + "seed = " + std::to_string(seed) + "\n";
}

}  // namespace commands::drill
