#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "config/keys.hpp"
#include "harness.hpp"

using config_test::Outcome;

namespace {

// Every key of relayer-api 11.2 with its published sample, and of share-helper 6.
constexpr std::string_view reference = R"(
[[host_chains]]
chain_id = 8009
url = "http://localhost:8545"
acl_address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"

[protocol_config]
ethereum_http_rpc_url = "http://localhost:8545"
address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"
retry.max_attempts = 3
retry.retry_interval_ms = 200

[keyurl]
kms_generation_address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"
poll_interval_ms = 12000

[user_decrypt_signature_check]
erc1271_gas_limit = 100000

[gateway.blockchain_rpc]
http_url = "http://localhost:8757"
read_http_url = "http://localhost:8757"
chain_id = 654321
ws_health_check_timeout_secs = 5
http_health_check_timeout_secs = 5

[gateway.listener_pool]
last_block_number = 17
reconnect_config.max_attempts = 20
reconnect_config.retry_interval_ms = 500
polling_max_attempts = 40
recycle_interval_mins = 30
poll_interval_ms = 2000
dedup_ttl_seconds = 5
dedup_max_capacity = 100000
[[gateway.listener_pool.listeners]]
type = "subscription"
url = "ws://localhost:8757"
[[gateway.listener_pool.listeners]]
type = "polling"
url = "http://localhost:8757"

[gateway.tx_engine]
max_concurrency = 100
retry.max_attempts = 100
retry.retry_interval_ms = 500
[gateway.tx_engine.signer]
type = "private_key"
private_key = "0x136e6acf4c05b5a20ee6d04ea61d8b6b6a6a1d7f11b0b3a8b3e1f10c7f5d2a31"
[gateway.tx_engine.tx_throttlers]
input_proof = { per_seconds = 20, capacity = 11000, safety_margin = 1000 }
user_decrypt = { per_seconds = 20, capacity = 11000, safety_margin = 1000 }
public_decrypt = { per_seconds = 20, capacity = 11000, safety_margin = 1000 }

[gateway.readiness_checker]
host_acl_check.retry = { max_attempts = 3, retry_interval_ms = 1000 }
gw_ciphertext_check.retry = { max_attempts = 75, retry_interval_ms = 3000 }
public_decrypt = { max_concurrency = 250, capacity = 11000, safety_margin = 1000 }
user_decrypt = { max_concurrency = 250, capacity = 11000, safety_margin = 1000 }

[gateway.contracts]
decryption_address = "0x26d798AA41C6Af4EFd0b548b0Fa9668EA1575865"
input_verification_address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"
user_decrypt_shares_threshold = 9

[gateway.gw_event_not_found_retry]
max_retries = 3
retry_delay_ms = 1000

[log]
format = "pretty"
show_file_line = false
show_thread_ids = false
show_timestamp = true
show_target = true

[http]
endpoint = "0.0.0.0:3000"
api_retry_after_seconds = 4
enable_admin_endpoint = false
[http.metrics]
histogram_buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
[http.retry_after]
min_seconds = 1
max_seconds = 300
safety_margin = 0.2
copro_kms_backoff_intervals = [[0, 4], [60, 10], [120, 30], [300, 60], [900, 300]]
[http.retry_after.nominal_times]
readiness_check_seconds = 4
input_proof_processing_seconds = 2
user_decrypt_processing_seconds = 6
public_decrypt_processing_seconds = 6
tx_confirmation_ms = 250

[metrics]
endpoint = "0.0.0.0:9898"
query_duration_histogram_bucket = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
request_status_duration_histogram_bucket = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600]
transaction_duration_secs_histogram_bucket = [0.01, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 5, 10]
retry_after_raw_eta_histogram_bucket = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 2400]

[storage]
sql_database_url = "postgresql://user:password@localhost:5432/relayer"
sql_health_check_timeout_secs = 5
[storage.app_pool]
max_connections = 10
min_connections = 2
acquire_timeout_secs = 10
idle_timeout_secs = 300
max_lifetime_secs = 900
[storage.cron_pool]
max_connections = 5
min_connections = 1
acquire_timeout_secs = 30
idle_timeout_secs = 600
max_lifetime_secs = 1800
[storage.cron]
timeout_cron_interval = "60s"
public_decrypt_timeout = "30m"
user_decrypt_timeout = "30m"
input_proof_timeout = "30m"
expiry_enabled = false
expiry_cron_interval = "5m"
public_decrypt_expiry = "365d"
user_decrypt_expiry = "7d"
input_proof_expiry = "7d"
cron_startup_delay_after_recovery = "30s"

[helper]
disable = false
api_token = ""
expose_queue_status = false
db_path = ""
chain_api_port = 1317
max_concurrent_proofs = 2
sentry_dsn = ""
process_interval = 30
min_delay = "90s"
)";

}  // namespace

TEST_CASE("a complete configuration of the reference is understood") {
    const Outcome outcome{reference};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().http.host == "0.0.0.0");

    // The samples of the reference are our defaults, but for where it listens and how it logs.
    const Outcome defaults{""};
    for (const config::Key& key : config::keys()) {
        if (!key.show || key.name.find("[]") != std::string::npos) continue;
        if (key.name == "http.endpoint" || key.name == "metrics.endpoint") continue;
        if (key.name == "log.format") continue;
        // Its helper proves by itself; ours has no prover here, and switches off.
        if (key.name == "helper.disable") continue;
        CAPTURE(key.name);
        CHECK(key.show(outcome.settings(), 0) == key.show(defaults.settings(), 0));
    }
}

TEST_CASE("what has no effect is said once per reason, without values") {
    const Outcome outcome{reference};
    REQUIRE(outcome.accepted());
    const auto& warnings = outcome.loaded().warnings;
    CHECK(warnings.size() == 5);
    const auto mentions = [&](std::string_view start, std::string_view part) {
        return std::ranges::count_if(warnings, [&](const std::string& line) {
            return line.starts_with(start) && line.find(part) != std::string::npos;
        });
    };
    const std::string start = "settings_without_effect reason=\"";
    CHECK(mentions(start + "the gateway is a loopback\"", "host_chains[].url") == 1);
    CHECK(mentions(start + "the gateway is a loopback\"", "tx_engine.signer.private_key") == 1);
    CHECK(mentions(start + "there is no vote chain: ", "helper.chain_api_port") == 1);
    CHECK(mentions(start + "PostgreSQL is not used\"", "storage.sql_database_url") == 1);
    CHECK(mentions(start + "this engine works without\"", "timeout_cron_interval") == 1);
    for (const std::string_view hidden :
         {"process_interval", "min_delay", "password", "136e6acf"}) {
        CAPTURE(hidden);
        CHECK(mentions("", hidden) == 0);
    }
    CHECK(Outcome{""}.loaded().warnings.empty());
}

TEST_CASE("T-145 an AWS signer needs no endpoint") {
    const Outcome outcome{R"([gateway.tx_engine.signer]
type = "aws_kms"
key_id = "arn"
region = "eu-west-1"
)"};
    CAPTURE(outcome.text());
    CHECK(outcome.accepted());
}

TEST_CASE("T-145 retry-after rules at their edges") {
    struct Row {
        std::string_view file;
        bool accepted;
    };
    const std::vector<Row> rows{
        {"http.retry_after.safety_margin = 0", true},
        {"http.retry_after.safety_margin = 1", true},
        {"http.retry_after.safety_margin = 1.001", false},
        {"http.retry_after.safety_margin = -0.1", false},
        {"http.retry_after.safety_margin = nan", false},
        {"http.retry_after.copro_kms_backoff_intervals = []", true},
        {"http.retry_after = { min_seconds = 5, max_seconds = 6 }", true},
        {"http.retry_after = { min_seconds = 6, max_seconds = 5 }", false},
        {"http.retry_after = { min_seconds = 5, max_seconds = 5 }", false},
        {"http.retry_after.copro_kms_backoff_intervals = [[5, 1], [4, 1]]", false},
        {"http.retry_after.copro_kms_backoff_intervals = [[5, 1], [5, 2]]", false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.file);
        CHECK(Outcome{row.file}.accepted() == row.accepted);
    }
}

TEST_CASE("a threshold the loopback can not reach is warned of") {
    const Outcome outcome{"gateway.contracts.user_decrypt_shares_threshold = 14"};
    REQUIRE(outcome.accepted());
    REQUIRE(outcome.loaded().warnings.size() == 1);
    CHECK(outcome.loaded().warnings[0].starts_with("user_decryptions_never_complete "));
}
