#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness.hpp"

using config_test::Outcome;

TEST_CASE("T-145 each mistake in a file is one line that names place, key, problem and the fix") {
    struct Row {
        std::string_view label;
        std::string file;
        std::vector<std::string> expected;
    };
    const std::string uint_year = "; allowed: 0x and 64 hexadecimal digits";
    const std::vector<Row> rows{
        {"unknown key",
         "\nhttp.endpont = \"x\"",
         {"FILE:2: http.endpont: is no known key, did you mean http.endpoint?"}},
        {"unknown table",
         "[htpp]\nendpoint = \"x\"\nworkers = 1",
         {"FILE:2: htpp.endpoint: is no known key, did you mean http.endpoint?",
          "FILE:3: htpp.workers: is no known key, did you mean http.workers?"}},
        {"unknown empty table",
         "[hepler]",
         {"FILE:1: hepler: is no known key, did you mean helper?"}},
        {"unknown key in a list",
         "[[host_chains]]\nchain_id = 1\nurls = \"\"",
         {"FILE:3: host_chains[0].urls: is no known key, did you mean host_chains[].url?"}},
        {"strange name",
         "\"a\\nb\" = 1",
         {"FILE:1: \"a\\nb\": is no known key, did you mean cluster.name?"}},
        {"wrong kind",
         "http.workers = \"many\"",
         {"FILE:1: http.workers: must be a whole number, is the text \"many\"; allowed: 1 to "
          "1024"}},
        {"fraction for a whole number",
         "http.workers = 1.5",
         {"FILE:1: http.workers: must be a whole number, is the number 1.5; allowed: 1 to 1024"}},
        {"below the range",
         "[http]\nworkers = 0",
         {"FILE:2: http.workers: 0 is out of range; allowed: 1 to 1024"}},
        {"beyond the range",
         "metrics.endpoint = \"h:65536\"",
         {"FILE:1: metrics.endpoint: \"h:65536\" is no address to listen on; allowed: HOST:PORT, "
          "port 0 "
          "to 65535 (0: any free one), an IPv6 address in brackets; empty: metrics are not "
          "served"}},
        {"not a bool",
         "helper.disable = \"yes\"",
         {"FILE:1: helper.disable: must be true or false, is the text \"yes\"; allowed: true or "
          "false"}},
        {"not a choice",
         "log.format = \"xml\"",
         {"FILE:1: log.format: \"xml\" is not among the choices; allowed: compact, pretty or "
          "json"}},
        {"no unit",
         "storage.cron.user_decrypt_timeout = 30",
         {"FILE:1: storage.cron.user_decrypt_timeout: must be text with a unit, such as \"30s\", "
          "is "
          "the number 30; allowed: 1ms to 3650d"}},
        {"bad duration",
         "clock.leap = \"1 fortnight\"",
         {"FILE:1: clock.leap: \"1 fortnight\" is no duration; write one as \"250ms\", \"30s\", "
          "\"1h 30m\" or \"7d\"; allowed: 1s to 1d"}},
        {"long duration",
         "clock.leap = \"2d\"",
         {"FILE:1: clock.leap: \"2d\" is out of range; allowed: 1s to 1d"}},
        {"odd duration",
         "http.idle_timeout = \"1500ms\"",
         {"FILE:1: http.idle_timeout: \"1500ms\" is no multiple of 1s; allowed: 1s to 1h in steps "
          "of "
          "1s"}},
        {"margin",
         "http.retry_after.safety_margin = 1.5",
         {"FILE:1: http.retry_after.safety_margin: 1.5 is out of range; allowed: 0 to 1 with at "
          "most "
          "three decimals"}},
        {"negative margin",
         "http.retry_after.safety_margin = -0.1",
         {"FILE:1: http.retry_after.safety_margin: -0.1 is out of range; allowed: 0 to 1 with at "
          "most three decimals"}},
        {"fine margin",
         "http.retry_after.safety_margin = 0.1234",
         {"FILE:1: http.retry_after.safety_margin: 0.1234 has more than three decimals; allowed: 0 "
          "to 1 with at most three decimals"}},
        {"address",
         "gateway.contracts.decryption_address = \"0x12\"",
         {"FILE:1: gateway.contracts.decryption_address: \"0x12\" is not 0x and 40 hexadecimal "
          "digits; allowed: an address: 0x and 40 hexadecimal digits"}},
        {"a value for a table",
         "http = 3",
         {"FILE:1: http: must be a table, is a whole number; allowed: [http] and keys below it"}},
        {"a table for a value",
         "[http.endpoint]\nport = 3",
         {"FILE:1: http.endpoint: must be text, is a table; allowed: HOST:PORT, port 0 to 65535 "
          "(0: "
          "any free one), an IPv6 address in brackets"}},
        {"a value for a list",
         "host_chains = 8009",
         {"FILE:1: host_chains: must be a list of tables, is a whole number; allowed: 1 to 1000 "
          "entries, each a table"}},
        {"a value in a list",
         "host_chains = [8009]",
         {"FILE:1: host_chains[0]: must be a table, is a whole number; allowed: a table such as "
          "{chain_id = …, url = …, fallback_urls = …, acl_address = …}"}},
        {"no entry",
         "host_chains = []",
         {"FILE:1: host_chains: has 0 entries; allowed: 1 to 1000 entries, each a table"}},
        {"a gap in the indexes",
         "[host_chains.1]\nchain_id = 1",
         {"FILE:1: host_chains: the indexes must count 0, 1, 2 …; allowed: 1 to 1000 entries, each "
          "a table"}},
        {"a member is missing",
         "[[host_chains]]\nurl = \"http://a\"",
         {"FILE:1: host_chains[0].chain_id: is missing; allowed: 1 to 9223372036854775807"}},
        {"a chain twice",
         "[[host_chains]]\nchain_id = 5\n[[host_chains]]\nchain_id = 5",
         {"FILE:4: host_chains[1].chain_id: 5 is there twice; allowed: each chain once"}},
        {"chain zero",
         "[[host_chains]]\nchain_id = 0",
         {"FILE:2: host_chains[0].chain_id: 0 is out of range; allowed: 1 to 9223372036854775807"}},
        {"no listener",
         "gateway.listener_pool.listeners = []",
         {"FILE:1: gateway.listener_pool.listeners: has 0 entries; allowed: 1 to 5 entries, each a "
          "table"}},
        {"a listener of the other kind",
         "[[gateway.listener_pool.listeners]]\ntype = \"polling\"\nurl = \"ws://a\"\n"
         "[[gateway.listener_pool.listeners]]\ntype = \"subscription\"\nurl = \"wss://a\"",
         {"FILE:3: gateway.listener_pool.listeners[0].url: does not go with type polling; allowed: "
          "ws or wss for subscription, http or https for polling"}},
        {"thresholds that fall",
         "[http.retry_after]\ncopro_kms_backoff_intervals = [\n  [0, 4],\n  [60, 10],\n  [60, "
         "30],\n]",
         {"FILE:5: http.retry_after.copro_kms_backoff_intervals[2]: the threshold 60 is not above "
          "the one before, 60; allowed: a list of [threshold, interval] or "
          "{elapsed_threshold_secs, retry_interval_secs}; thresholds 0 to 86400 and rising, "
          "intervals 1 to 86400; may be empty"}},
        {"an interval of nothing",
         "http.retry_after.copro_kms_backoff_intervals = [{elapsed_threshold_secs = 0, "
         "retry_interval_secs = 0}]",
         {"FILE:1: http.retry_after.copro_kms_backoff_intervals[0].retry_interval_secs: 0 is out "
          "of "
          "range; allowed: a list of [threshold, interval] or {elapsed_threshold_secs, "
          "retry_interval_secs}; thresholds 0 to 86400 and rising, intervals 1 to 86400; may be "
          "empty"}},
        {"a backoff of one",
         "http.retry_after.copro_kms_backoff_intervals = [[1]]",
         {"FILE:1: http.retry_after.copro_kms_backoff_intervals[0]: must be [threshold, interval] "
          "or "
          "have exactly the members elapsed_threshold_secs and retry_interval_secs; allowed: a "
          "list of [threshold, interval] or {elapsed_threshold_secs, retry_interval_secs}; "
          "thresholds 0 to 86400 and rising, intervals 1 to 86400; may be empty"}},
        {"no buckets",
         "http.metrics.histogram_buckets = []",
         {"FILE:1: http.metrics.histogram_buckets: the list is empty; allowed: a list of positive "
          "numbers in rising order, not empty"}},
        {"buckets that fall",
         "http.metrics.histogram_buckets = [1, 0.5]",
         {"FILE:1: http.metrics.histogram_buckets[1]: 0.5 does not rise; allowed: a list of "
          "positive "
          "numbers in rising order, not empty"}},
        {"min above max",
         "[http.retry_after]\nmin_seconds = 300",
         {"FILE:2: http.retry_after.min_seconds: min_seconds is 300, max_seconds is 300; allowed: "
          "min_seconds below max_seconds"}},
        {"max below min",
         "[http.retry_after]\nmax_seconds = 1",
         {"FILE:2: http.retry_after.max_seconds: min_seconds is 1, max_seconds is 1; allowed: "
          "min_seconds below max_seconds"}},
        {"margin at capacity",
         "[gateway.tx_engine.tx_throttlers.input_proof]\ncapacity = 10\nsafety_margin = 10",
         {"FILE:3: gateway.tx_engine.tx_throttlers.input_proof.safety_margin: safety_margin is 10, "
          "capacity is 10; allowed: safety_margin below capacity"}},
        {"capacity at the margin of the defaults",
         "gateway.readiness_checker.user_decrypt.capacity = 1000",
         {"FILE:1: gateway.readiness_checker.user_decrypt.capacity: safety_margin is 1000, "
          "capacity "
          "is 1000; allowed: safety_margin below capacity"}},
        {"startup delay",
         "[storage.cron]\ninput_proof_timeout = \"5m\"\ncron_startup_delay_after_recovery = "
         "\"30s\"",
         {"FILE:3: storage.cron.cron_startup_delay_after_recovery: 30s is too long beside the "
          "shortest time-out, 5m; allowed: below 10 % of it"}},
        {"startup delay and expiry",
         "[storage.cron]\nexpiry_enabled = true\nuser_decrypt_expiry = \"1m\"\n"
         "cron_startup_delay_after_recovery = \"6s\"",
         {"FILE:4: storage.cron.cron_startup_delay_after_recovery: 6s is too long beside the "
          "shortest expiry, 1m; allowed: below 10 % of it"}},
        {"startup delay that overflows when multiplied",
         "storage.cron.cron_startup_delay_after_recovery = \"106751991167d\"",
         {"FILE:1: storage.cron.cron_startup_delay_after_recovery: \"106751991167d\" is out of "
          "range; allowed: 0ms to 3650d"}},
        {"text cut between two characters",
         "log.format = \"aéééééééééééééééééééééééééééééé\"",
         {"FILE:1: log.format: \"aééééééééééééééééééééééééééééé…\" is not among the choices; "
          "allowed: compact, pretty "
          "or json"}},
        {"signer without a type",
         "[gateway.tx_engine.signer]\nregion = \"eu\"",
         {"FILE:1: gateway.tx_engine.signer.type: is missing; allowed: private_key, aws_kms or "
          "remote"}},
        {"signer of another type",
         "gateway.tx_engine.signer.type = \"ledger\"",
         {"FILE:1: gateway.tx_engine.signer.type: \"ledger\" is not among the choices; allowed: "
          "private_key, aws_kms or remote"}},
        {"signer without a key",
         "[gateway.tx_engine.signer]\ntype = \"private_key\"",
         {"FILE:1: gateway.tx_engine.signer.private_key: is missing; allowed: 64 hexadecimal "
          "digits, or the file that holds them in private_key_file"}},
        {"signer with two keys",
         "[gateway.tx_engine.signer]\ntype = \"private_key\"\nprivate_key = \"" +
             std::string(64, '1') + "\"\nprivate_key_file = \"f\"",
         {"FILE:4: gateway.tx_engine.signer.private_key_file: "
          "gateway.tx_engine.signer.private_key is set too; allowed: one of the two"}},
        {"KMS signer without all",
         "[gateway.tx_engine.signer]\ntype = \"aws_kms\"",
         {"FILE:1: gateway.tx_engine.signer.key_id: is missing; allowed: text",
          "FILE:1: gateway.tx_engine.signer.region: is missing; allowed: text"}},
        {"KMS signer in no region",
         "[gateway.tx_engine.signer]\ntype = \"aws_kms\"\nkey_id = \"k\"\nregion = \"eu.evil/\"",
         {"FILE:4: gateway.tx_engine.signer.region: is no region; allowed: small letters, digits "
          "and -, such as eu-central-1"}},
        {"KMS signer beside a key",
         "[gateway.tx_engine.signer]\ntype = \"aws_kms\"\nkey_id = \"k\"\nregion = \"eu\"\n"
         "private_key_file = \"f\"",
         {"FILE:5: gateway.tx_engine.signer.private_key_file: is set, and type is aws_kms, which "
          "has no use for it; allowed: no key here, or type private_key"}},
        {"remote signer without all",
         "[gateway.tx_engine.signer]\ntype = \"remote\"",
         {"FILE:1: gateway.tx_engine.signer.url: is missing; allowed: http://HOST… or "
          "https://HOST…",
          "FILE:1: gateway.tx_engine.signer.address: is missing; allowed: the address of the "
          "account"}},
        {"remote signer with a certificate and no TLS",
         "[gateway.tx_engine.signer]\ntype = \"remote\"\nurl = \"http://h\"\naddress = "
         "\"0x26d798aa41c6af4efd0b548b0fa9668ea1575865\"\nca_file = \"f\"",
         {"FILE:5: gateway.tx_engine.signer.ca_file: needs TLS, and gateway.tx_engine.signer.url "
          "has none; allowed: an https URL, or no file"}},
        {"remote signer with half a certificate",
         "[gateway.tx_engine.signer]\ntype = \"remote\"\nurl = \"https://h\"\naddress = "
         "\"0x26d798aa41c6af4efd0b548b0fa9668ea1575865\"\nclient_key_file = \"f\"",
         {"FILE:5: gateway.tx_engine.signer.client_key_file: one is set without the other; "
          "allowed: both or neither"}},
        {"certificate without a key",
         "[http]\ntls_certificate_file = \"a.pem\"",
         {"FILE:2: http.tls_certificate_file: needs http.tls_key_file beside it; allowed: both "
          "files, or neither for plain HTTP"}},
        {"key without a certificate",
         "[http]\ntls_key_file = \"a.pem\"",
         {"FILE:2: http.tls_key_file: needs http.tls_certificate_file beside it; allowed: both "
          "files, or neither for plain HTTP"}},
        {"pauses",
         "engine.trouble_pause_max = \"100ms\"",
         {"FILE:1: engine.trouble_pause_max: the first pause, 500ms, is above the longest, 100ms; "
          "allowed: retry_interval_ms up to engine.trouble_pause_max"}},
        {"pool",
         "[storage.app_pool]\nmin_connections = 3\nmax_connections = 2",
         {"FILE:2: storage.app_pool.min_connections: 3 is above max_connections, 2; allowed: 0 to "
          "max_connections"}},
        {"latency turned round",
         "gateway.loopback.proof = [\"2s\", \"1s\"]",
         {"FILE:1: gateway.loopback.proof: the shortest, 2s, is above the longest, 1s; allowed: a "
          "duration or [shortest, longest], 0ms to 1d"}},
        {"latency end",
         "gateway.loopback.proof = [\n\"2s\",\n3]",
         {"FILE:3: gateway.loopback.proof[1]: must be text with a unit, such as \"30s\", is the "
          "number 3; allowed: a duration or [shortest, longest], 0ms to 1d"}},
        {"round",
         "[[gateway.loopback.rounds]]\nid = \"0x00\"\nvote_end = 2030-01-01",
         {"FILE:2: gateway.loopback.rounds[0].id: \"0x00\" is not 0x and 64 hexadecimal digits" +
              uint_year,
          "FILE:3: gateway.loopback.rounds[0].vote_end: a date or a time alone is no moment in "
          "time; allowed: a date with time and offset, such as 2100-01-01T00:00:00Z, or Unix "
          "seconds"}},
        {"empty path",
         "storage.data_dir = \"\"",
         {"FILE:1: storage.data_dir: must not be empty; allowed: a path; made when missing"}},
        {"escaped text",
         "log.format = \"a\\u001b[31m\"",
         {"FILE:1: log.format: \"a\\x1b[31m\" is not among the choices; allowed: compact, pretty "
          "or "
          "json"}},
        {"not TOML", "a = 1\nb = = 2", {}},
        {"defined twice", "http.workers = 1\nhttp.workers = 2", {}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Outcome outcome{row.file};
        CAPTURE(outcome.text());
        REQUIRE_FALSE(outcome.accepted());
        if (!row.expected.empty()) {
            CHECK(outcome.errors() == row.expected);
            continue;
        }
        // The words are the parser's.
        REQUIRE(outcome.errors().size() == 1);
        CHECK(outcome.errors()[0].starts_with("FILE:2: is not TOML: "));
    }
}

TEST_CASE("all mistakes are reported at once, in the order of the lines") {
    const Outcome outcome{R"(http.workers = 0
log.formt = "json"
[[host_chains]]
chain_id = 1
[[host_chains]]
chain_id = 1
[storage]
synchronous = "never"
)",
                          {{"POSTHOUSE_LOG__LEVEL", "loud"}, {"POSTHOUSE_NO__THING", "1"}}};
    const std::vector<std::string> expected{
        "FILE:1: http.workers: 0 is out of range; allowed: 1 to 1024",
        "FILE:2: log.formt: is no known key, did you mean log.format?",
        "FILE:6: host_chains[1].chain_id: 1 is there twice; allowed: each chain once",
        "FILE:8: storage.synchronous: \"never\" is not among the choices; allowed: full or normal",
        "POSTHOUSE_LOG__LEVEL: log.level: \"loud\" is not among the choices; allowed: debug, info, "
        "warning or error",
    };
    std::vector<std::string> errors = outcome.errors();
    CAPTURE(outcome.text());
    REQUIRE(errors.size() == expected.size() + 1);
    CHECK(
        errors.back().starts_with("POSTHOUSE_NO__THING: no.thing: is no known key, did you mean "));
    errors.pop_back();
    CHECK(errors == expected);
}

TEST_CASE("a file that can not be read is said to be so") {
    const support::TempDirectory directory;
    const std::string path = directory.path().string();
    struct Row {
        std::string_view label;
        std::string file;
        std::string expected;
    };
    std::ofstream{path + "/large.toml"} << std::string((1U << 20U) + 1, '#');
    std::ofstream{path + "/latin.toml"} << "# gr\xfc\xdf\n";
    const std::vector<Row> rows{
        {"missing", path + "/none.toml",
         path + "/none.toml: can not be read: No such file or directory"},
        {"directory", path, path + ": is a directory"},
        {"large", path + "/large.toml", path + "/large.toml: is larger than 1048576 bytes"},
        {"not UTF-8", path + "/latin.toml", path + "/latin.toml:1: is not TOML: "},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        config::Sources sources;
        sources.file = row.file;
        const auto result = config::load(sources);
        const auto* refused = std::get_if<config::ConfigErrors>(&result);
        REQUIRE(refused != nullptr);
        REQUIRE(refused->errors.size() == 1);
        CHECK(refused->errors[0].substr(0, row.expected.size()) == row.expected);
    }
}

TEST_CASE("a body that would never fit into the memory for requests is told") {
    const auto is_told = [](const std::string& file, std::size_t needed) {
        const auto warnings = Outcome{file}.loaded().warnings;
        return warnings.size() == 1 &&
               warnings.front().starts_with("largest_request_never_fits ") &&
               warnings.front().find(" needed=" + std::to_string(needed) + " ") !=
                   std::string::npos;
    };
    const std::size_t by_default = 2 * (2'097'152 + 2 * 32'768 + 1);
    const std::string buffered = "http.buffered_bytes_max = ";
    CHECK(is_told(buffered + "1048576", by_default));
    CHECK(is_told(buffered + std::to_string(by_default - 1), by_default));
    CHECK(Outcome{buffered + std::to_string(by_default)}.loaded().warnings.empty());
    for (const std::string key : {"http.body_bytes_max", "helper.body_bytes_max"}) {
        CAPTURE(key);
        CHECK(is_told(key + " = 36000000", 2 * (36'000'000 + 2 * 32'768 + 1)));
        CHECK(Outcome{key + " = 36000000\n" + buffered + "73000000"}.loaded().warnings.empty());
    }
}

TEST_CASE("tokens that can not arrive and origins that no browser writes are refused") {
    const std::string allowed_text =
        "; allowed: text without a blank at either end, at most 4096 bytes; empty: none";
    for (const std::string key : {"helper.api_token", "helper.nullifier_token"}) {
        for (const std::string token : {" s3same", "s3same ", " "}) {
            CAPTURE(key);
            CHECK(Outcome{key + " = \"" + token + "\""}.errors() ==
                  std::vector{"FILE:1: " + key + ": begins or ends with a blank" + allowed_text});
        }
        CHECK(Outcome{key + " = \"open sesame\""}.accepted());
    }
    for (const std::string token : {"s3same open", "s3same ", "s3same\u00e4"}) {
        CAPTURE(token);
        CHECK(Outcome{"helper.prover.token = \"" + token + "\""}.errors() ==
              std::vector<std::string>{"FILE:1: helper.prover.token: holds characters that are not "
                                       "visible ASCII; allowed: at most 4096 visible ASCII "
                                       "characters; empty: none"});
    }
    CHECK(Outcome{"helper.prover.token = \"s3same~!\""}.accepted());

    const auto with_origin = [](const std::string& origin) {
        return Outcome{"http.cors_allow_origin = \"" + origin + "\""};
    };
    for (const char* const origin :
         {"foo bar", "foo", "https://a.example/", "http://a, http://b", "https://a https://b",
          "https://A.example", "https://a:443", "http://a:80", "http://a:0", "https://", "://a",
          "https://u@a", "https://a?q", "https://*.example", "NULL", " *"}) {
        CAPTURE(origin);
        CHECK(with_origin(origin).errors() ==
              std::vector<std::string>{
                  "FILE:1: http.cors_allow_origin: \"" + std::string(origin) +
                  "\" is no origin; allowed: an origin as browsers write it, such as "
                  "https://app.example.org (lower case, no path), null, or *; empty: no CORS "
                  "headers"});
    }
    for (const char* const origin : {"", "*", "null", "https://a.example", "http://localhost:3000",
                                     "http://[::1]:8080", "chrome-extension://abcdef"}) {
        CAPTURE(origin);
        CHECK(with_origin(origin).accepted());
    }
}

TEST_CASE("a URL that nothing can be asked at is refused at every key, and not shown") {
    const std::string what =
        ": can not be used: ports are 1 to 65535, IPv6 addresses stand in brackets, and % in a "
        "user or password is written %25; allowed: ";
    for (const std::string key :
         {"gateway.blockchain_rpc.http_url", "gateway.blockchain_rpc.read_http_url",
          "protocol_config.ethereum_http_rpc_url", "helper.chain_url", "helper.nullifier_url",
          "helper.prover.url", "helper.alert_webhook.url", "gateway.tx_engine.signer.url"}) {
        for (const std::string url :
             {"http://h:99999/x", "http://h:0", "http://h:8a", "http://[::1/", "http://u%zz@h/"}) {
            CAPTURE(key);
            CAPTURE(url);
            const std::string signer = "gateway.tx_engine.signer.type = \"remote\"\n";
            const Outcome outcome{signer + key + " = \"" + url + "\""};
            CHECK(std::ranges::count_if(outcome.errors(), [&](const std::string& error) {
                      return error.starts_with("FILE:2: " + key + what + "http");
                  }) == 1);
            CHECK(outcome.text().find(url.substr(7)) == std::string::npos);
        }
    }
    const std::string listener =
        "[[gateway.listener_pool.listeners]]\ntype = \"polling\"\nurl = \"ws://h:99999\"";
    CHECK(Outcome{listener}.text().find("FILE:3: gateway.listener_pool.listeners[0].url" + what) !=
          std::string::npos);
    CHECK(Outcome{"gateway.blockchain_rpc.http_fallback_urls = [\"http://h\", \"http://h:0\"]"}
              .text()
              .find("http_fallback_urls[1]" + what) != std::string::npos);
    CHECK(Outcome{"helper.alert_webhook.url = \"https://u:p%40@[::1]:65535/%zz?q\""}.accepted());
}

TEST_CASE("T-145 no secret and no URL ever gets into a line") {
    const std::string secret = "5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2";
    const std::vector<std::string> files{
        "gateway.tx_engine.signer.private_key = \"" + secret + "zz\"",
        "gateway.tx_engine.signer.private_key = 0x" + secret,
        "gateway.tx_engine.signer.private_key = " + secret,
        "gateway.tx_engine.signer.private_key = \"" + secret,
        "gateway.tx_engine.signer.private_key = '" + secret + "\"",
        "gateway.tx_engine.signer.private_key = [\"" + secret + "\"]",
        "gateway.tx_engine.signer = \"" + secret + "\"",
        "gateway.tx_engine = \"" + secret + "\"",
        "gateway.tx_engine.signer.private_keys = \"" + secret + "\"",
        "gateway.tx_engine.signer.key_id = [\"" + secret + "\"]",
        "[gateway.tx_engine.signer]\ntype = \"private_key\"\nprivate_key = \"" + secret + "\"",
        "[gateway.tx_engine.signer]\nprivate_key = \"" + secret + "\"",
        "helper.api_token = [\"" + secret + "\"]",
        "helper.api_token = \"" + secret + "\\u0007\"",
        "helper.api_token = \"" + secret + "\" \"x\"",
        "helper.sentry_dsn = {dsn = \"" + secret + "\"}",
        "storage.sql_database_url = \"postgre://u:" + secret + "@h/d\"",
        "storage.sql_database_url = \"postgres://u:" + secret + "@h/d\"",
        "gateway.blockchain_rpc.http_url = \"ftp://u:" + secret + "@h/d\"",
        "gateway.blockchain_rpc.http_url = \"https://u:" + secret + "@h/d\"",
        "gateway.blockchain_rpc.http_fallback_urls = [\"https://u:" + secret + "@h\", \"" + secret +
            "\"]",
        "gateway.blockchain_rpc.http_fallback_urls = \"https://" + secret + "\"",
        "gateway.blockchain_rpc.read_fallback_urls = [\"https://" + secret + "\"]",
        "gateway.type = \"evm\"\ngateway.blockchain_rpc.http_url = \"https://" + secret + "\"",
        "gateway.blockchain_rpc.http_url = [\"https://u:" + secret + "@h/d\"]",
        "gateway.tx_engine.signer.private_key_file = \"" + secret + "\\n\"",
        "gateway.tx_engine.signer.token_file = [\"" + secret + "\"]",
        "http.admin_token_file = \"\"\"\n" + secret + "\n\"\"\"",
        "http.client_keys_file = \"" + secret + "\\nweb " + secret + "\"",
        "http.tls_key_file = \"" + secret + "\\n\"",
        "helper.api_tokens_file = \"" + secret + std::string(4'096, 'x') + "\"",
        "cluster.key_file = \"" + secret + "\\n\"",
        "[[host_chains]]\nchain_id = 1\nurl = \"htp://" + secret + "\"",
        "[[host_chains]]\nchain_id = 1\nurl = 'http://h/?key=" + secret + " '",
        "[[gateway.listener_pool.listeners]]\ntype = \"polling\"\nurl = \"ws://" + secret + "\"",
    };
    for (const std::string& file : files) {
        CAPTURE(file);
        const Outcome outcome{file};
        CHECK_FALSE(outcome.text().empty());
        CHECK(outcome.text().find(secret.substr(0, 10)) == std::string::npos);
    }
    for (const std::string name :
         {"POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__PRIVATE_KEY", "POSTHOUSE_HELPER__API_TOKEN",
          "POSTHOUSE_HELPER__API_TOKN", "POSTHOUSE_STORAGE__SQL_DATABASE_URL", "POSTHOUSE_GATEWAY",
          "POSTHOUSE_HOST_CHAINS__0__URL", "POSTHOUSE__X", "POSTHOUSE_HELPER__API_TOKEN__0"}) {
        CAPTURE(name);
        const Outcome outcome{"", {{name, "postgres://" + secret + "\n"}}};
        CHECK_FALSE(outcome.accepted());
        CHECK(outcome.text().find(secret.substr(0, 10)) == std::string::npos);
    }
}
