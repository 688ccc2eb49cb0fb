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

std::vector<std::string> variables_on_chain(std::uint64_t block) {
    return {"POSTHOUSE_HTTP__CLIENT_KEYS_FILE=", "POSTHOUSE_HTTP__TLS_CERTIFICATE_FILE=",
            "POSTHOUSE_HTTP__TLS_KEY_FILE=", "POSTHOUSE_HTTP__ENABLE_ADMIN_ENDPOINT=false",
            "POSTHOUSE_METRICS__ENDPOINT=127.0.0.1:0", "POSTHOUSE_HELPER__DISABLE=true",
            // Where it listens is read from its log.
            "POSTHOUSE_LOG__FORMAT=compact", "POSTHOUSE_LOG__LEVEL=info",
            // It does not die of its requests, however often it is killed at them.
            "POSTHOUSE_ENGINE__CRASHES_MAX=100",
            "POSTHOUSE_GATEWAY__LISTENER_POOL__LAST_BLOCK_NUMBER=" + std::to_string(block)};
}

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
