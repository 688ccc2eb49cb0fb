#include "config/keys.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "config/source.hpp"
#include "harness.hpp"

namespace {

// A file that sets this one key, with what its list needs beside it.
std::string file_with(const config::Key& key, const std::string& value) {
    const std::size_t list = key.name.find("[]");
    if (list == std::string::npos) return key.name + " = " + value + "\n";
    const std::string table = key.name.substr(0, list);
    std::string element;
    for (const config::Key& other : config::keys()) {
        if (!other.name.starts_with(table + "[].")) continue;
        const bool self = other.name == key.name;
        if (!self && !other.required) continue;
        element +=
            other.name.substr(table.size() + 3) + " = " + (self ? value : other.sample) + "\n";
    }
    const auto entries = std::max<std::size_t>(config::find_table_list(table)->entries_min, 1);
    std::string file;
    for (std::size_t i = 0; i < entries; ++i) file += "[[" + table + "]]\n" + element;
    return file;
}

// Such a key is complete only with others.
bool about_node(const config::Key& key) {
    return key.effect == config::Effect::makes_node;
}

bool about_signer(const config::Key& key) {
    return key.name.starts_with("gateway.tx_engine.signer.") ||
           key.name.starts_with("gateway.tx_engine.signers[].");
}

}  // namespace

TEST_CASE("every key is described, and described once") {
    std::set<std::string> names;
    for (const config::Key& key : config::keys()) {
        CAPTURE(key.name);
        CHECK(names.insert(key.name).second);
        CHECK_FALSE(key.allowed.empty());
        CHECK(key.doc.ends_with("."));
        CHECK((key.show || !key.sample.empty()));
        const bool of_chain = key.effect == config::Effect::needs_chain ||
                              key.effect == config::Effect::needs_vote_chain;
        const bool off_by_default = key.effect == config::Effect::full && !key.sample.empty();
        CHECK((of_chain || off_by_default || about_node(key) ||
               (key.effect == config::Effect::full) == static_cast<bool>(key.show)));
        if (key.required_by_evm) CHECK((key.show || !key.sample.empty()));
        if (key.secret && key.effect == config::Effect::needs_chain) CHECK_FALSE(key.show);
        CHECK(config::find_key(key.name) == &key);
        CHECK_FALSE(config::is_table(key.name));
    }
    for (const config::TableList& list : config::table_lists()) {
        CAPTURE(list.name);
        CHECK(config::is_table(list.name + "[]"));
        CHECK(list.entries_min <= list.entries_max);
    }
}

TEST_CASE("every default is a value the key takes, by file and by variable") {
    const config::Settings defaults;
    for (const config::Key& key : config::keys()) {
        CAPTURE(key.name);
        const bool shown = key.show && key.name.find("[]") == std::string::npos;
        const std::string value = shown ? key.show(defaults, 0) : key.sample;
        if (value == "\"\"" && about_signer(key)) continue;
        if (about_signer(key)) continue;  // complete only together, see the reference file
        if (about_node(key)) continue;    // same, see the tests of the cluster
        if (key.name == "helper.chain_url") continue;  // only with a prover
        const config_test::Outcome outcome{file_with(key, value)};
        CAPTURE(outcome.text());
        CHECK(outcome.accepted());
        if (!outcome.accepted() || !shown) continue;
        config::Settings settings = outcome.settings();
        CHECK(key.show(settings, 0) == key.show(config_test::Outcome{""}.settings(), 0));

        if (value.starts_with('[')) continue;  // by index, see the tests of variables
        std::string bare = value;
        if (bare.starts_with('"')) bare = bare.substr(1, bare.size() - 2);
        const config_test::Outcome by_variable{"", {{config::variable_of(key.name), bare}}};
        CAPTURE(by_variable.text());
        CHECK(by_variable.accepted());
    }
}

TEST_CASE("no key takes a value of a wrong kind") {
    for (const config::Key& key : config::keys()) {
        if (key.effect == config::Effect::obsolete) continue;
        for (const std::string value : {"{ unlikely = 1 }", "[[[]]]", "1979-05-27", "-7"}) {
            if (value == "-7" && key.name == "helper.max_concurrent_proofs") continue;
            CAPTURE(key.name);
            CAPTURE(value);
            const config_test::Outcome outcome{file_with(key, value)};
            REQUIRE_FALSE(outcome.accepted());
            // Of a signer in a list it is said first what is missing.
            const auto errors = outcome.errors();
            const bool in_list = about_signer(key) && key.name.find("[]") != std::string::npos;
            const std::string line = in_list ? errors.back() : errors.front();
            CAPTURE(line);
            CHECK(line.starts_with("FILE:"));
            CHECK(line.ends_with("; allowed: " + key.allowed));
        }
    }
}

TEST_CASE("a changed value arrives where the layers read it") {
    const config_test::Outcome outcome{R"(
http.endpoint = "[::1]:8080"
http.api_retry_after_seconds = 9
http.body_bytes_max = 5000
http.workers = 3
http.client_keys_file = "credential:client_keys"
http.metrics.histogram_buckets = [0.5, 2]
metrics.endpoint = "[::1]:9999"
metrics.query_duration_histogram_bucket = [1]
metrics.request_status_duration_histogram_bucket = [2]
metrics.transaction_duration_secs_histogram_bucket = [3]
metrics.retry_after_raw_eta_histogram_bucket = [4, 5]
http.idle_timeout = "7s"
http.request_deadline = "1500ms"
http.retry_after.safety_margin = 0.125
http.retry_after.copro_kms_backoff_intervals = [[0, 4], {elapsed_threshold_secs = 60, retry_interval_secs = 10}]
http.retry_after.nominal_times.readiness_check_seconds = 3
http.retry_after.nominal_times.tx_confirmation_ms = 333
log.format = "json"
log.level = "debug"
storage.data_dir = "/var/lib/posthouse"
storage.synchronous = "normal"
storage.wal_bytes_max = 2097152
storage.cron.user_decrypt_timeout = "1h 30m"
storage.cron.expiry_enabled = true
helper.api_token = "tok"
helper.api_tokens_file = "/etc/tokens"
helper.disable = true
helper.max_concurrent_proofs = 5
clock.leap = "2m"
engine.crashes_max = 3
engine.workers = 9
engine.stop_grace = "4s"
gateway.tx_engine.max_concurrency = 7
gateway.tx_engine.retry.retry_interval_ms = 250
gateway.tx_engine.tx_throttlers.user_decrypt.per_seconds = 11
gateway.tx_engine.tx_throttlers.user_decrypt.burst = 2
gateway.readiness_checker.public_decrypt.max_concurrency = 13
gateway.readiness_checker.gw_ciphertext_check.retry.max_attempts = 4
gateway.readiness_checker.gw_ciphertext_check.retry.retry_interval_ms = 5
gateway.contracts.decryption_address = "0x00000000000000000000000000000000000000Ff"
gateway.contracts.user_decrypt_shares_threshold = 2
gateway.loopback.readiness = ["1ms", "2s"]
gateway.loopback.seed = 42
gateway.loopback.reverts = 17
[[host_chains]]
chain_id = 8009
[[host_chains]]
chain_id = 9001
[[gateway.loopback.rounds]]
id = "0x00000000000000000000000000000000000000000000000000000000000000Aa"
vote_end = 2030-01-01T00:00:00Z
[[gateway.loopback.outages]]
start = "10s"
duration = "5s"
)"};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.text().empty());
    using std::chrono::milliseconds;
    const config::Settings& s = outcome.settings();
    CHECK(s.http.host == "::1");
    CHECK(s.http.port == 8080);
    CHECK(s.api.api_retry_after_seconds == 9);
    CHECK(s.engine.api_retry_after_seconds == 9);
    CHECK(s.api.relayer_body_bytes_max == 5000);
    CHECK(s.http.body_bytes_max == s.api.share_body_bytes_max);
    CHECK(s.http.workers == 3);
    CHECK(s.metrics.host == "::1");
    CHECK(s.metrics.port == 9999);
    using Bounds = std::vector<double>;
    CHECK(s.metrics.http_seconds == Bounds{0.5, 2});
    CHECK(s.metrics.query_seconds == Bounds{1});
    CHECK(s.metrics.status_seconds == Bounds{2});
    CHECK(s.metrics.transaction_seconds == Bounds{3});
    CHECK(s.metrics.estimate_seconds == Bounds{4, 5});
    CHECK(s.http.idle_timeout == std::chrono::seconds{7});
    CHECK(s.http.request_deadline == milliseconds{1500});
    CHECK(s.engine.retry_after.safety_margin_permille == 125);
    CHECK(s.engine.retry_after.copro_kms_backoff_intervals ==
          std::vector<domain::BackoffInterval>{{0, 4}, {60, 10}});
    CHECK(s.engine.retry_after.readiness_check == milliseconds{3000});
    CHECK(s.engine.retry_after.tx_confirmation == milliseconds{333});
    CHECK(s.log.format == platform::LogFormat::json);
    CHECK(s.log.level == ports::LogLevel::debug);
    CHECK(s.store.directory == "/var/lib/posthouse");
    CHECK(s.store.synchronous == store::Synchronous::normal);
    CHECK(s.store.wal_bytes_max == 2'097'152);
    CHECK(s.engine.response_timeout.user_decrypt == std::chrono::minutes{90});
    CHECK(s.engine.response_timeout.input_proof == std::chrono::minutes{30});
    CHECK(s.engine.retention.expiry_enabled);
    CHECK(s.api.access.share_api_token == "tok");
    CHECK(s.api.access.share_tokens_file == "/etc/tokens");
    CHECK(s.api.access.client_keys_file == "credential:client_keys");
    CHECK(s.api.share_disable);
    CHECK(s.engine.shares.max_concurrent_proofs == 5);
    CHECK(s.engine.clock_leap == std::chrono::minutes{2});
    CHECK(s.engine.crashes_max == 3);
    CHECK(s.workers == 9);
    CHECK(s.stop_grace == milliseconds{4000});
    CHECK(s.engine.sends_max == 7);
    CHECK(s.engine.unreachable_pause.first == milliseconds{250});
    CHECK(s.engine.sending.user_decrypt.per_seconds == 11);
    CHECK(s.engine.sending.user_decrypt.burst == 2);
    CHECK(s.engine.sending.input_proof.per_seconds == 20);
    CHECK(s.engine.readiness.public_decrypt.max_concurrency == 13);
    CHECK(s.engine.readiness_attempts_max == 4);
    CHECK(s.engine.readiness_pause == milliseconds{5});
    CHECK(s.api.decryption_address[19] == 0xff);
    CHECK(s.engine.user_decrypt_shares_threshold == 2);
    CHECK(s.api.host_chain_ids == std::vector<std::uint64_t>{8009, 9001});
    CHECK(s.loopback.host_chains == s.api.host_chain_ids);
    CHECK(s.loopback.readiness == chains::loopback::Latency{milliseconds{1}, milliseconds{2000}});
    CHECK(s.loopback.seed == 42);
    CHECK(s.loopback.reverts == 17);
    CHECK(s.loopback.ledger == "/var/lib/posthouse/loopback.db");
    REQUIRE(s.loopback.rounds.size() == 1);
    CHECK(s.loopback.rounds[0].id[31] == 0xaa);
    CHECK(domain::unix_ms(s.loopback.rounds[0].vote_end) == 1'893'456'000'000);
    REQUIRE(s.loopback.outages.size() == 1);
    CHECK(s.loopback.outages[0] ==
          chains::loopback::Outage{milliseconds{10'000}, milliseconds{5'000}});
}

TEST_CASE("a ledger with a place of its own stays there") {
    struct Row {
        std::string_view written;
        std::string_view expected;
    };
    const std::vector<Row> rows{
        {"loopback.db", "data/loopback.db"},
        {"/elsewhere/l.db", "/elsewhere/l.db"},
        {":memory:", ":memory:"},
        {"file:l?mode=memory&cache=shared", "file:l?mode=memory&cache=shared"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.written);
        const config_test::Outcome outcome{"gateway.loopback.ledger = \"" +
                                           std::string{row.written} + "\""};
        REQUIRE(outcome.accepted());
        CHECK(outcome.settings().loopback.ledger == row.expected);
    }
}

TEST_CASE("fewer than one proof at once counts as one, and is said") {
    for (const std::string value : {"0", "-5"}) {
        CAPTURE(value);
        const config_test::Outcome outcome{"helper.max_concurrent_proofs = " + value};
        REQUIRE(outcome.accepted());
        CHECK(outcome.settings().engine.shares.max_concurrent_proofs == 1);
        CHECK(outcome.loaded().notes.size() == 1);
        CHECK(outcome.loaded().warnings.empty());
    }
}

TEST_CASE("metrics are served on the loopback unless the address is empty") {
    CHECK(config::Settings{}.metrics.host == "127.0.0.1");
    CHECK(config::Settings{}.metrics.port == 9898);
    for (const std::string by : {"file", "variable"}) {
        CAPTURE(by);
        const config_test::Outcome outcome =
            by == "file" ? config_test::Outcome{"metrics.endpoint = \"\""}
                         : config_test::Outcome{"", {{"POSTHOUSE_METRICS__ENDPOINT", ""}}};
        CAPTURE(outcome.text());
        REQUIRE(outcome.accepted());
        CHECK(outcome.settings().metrics.host.empty());
        CHECK(config::find_key("metrics.endpoint")->show(outcome.settings(), 0) == "\"\"");
    }
}
