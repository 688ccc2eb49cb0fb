#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/source.hpp"
#include "harness.hpp"

using config_test::Outcome;

TEST_CASE("variables are typed by the key they are for") {
    const Outcome outcome{"",
                          {
                              {"POSTHOUSE_HTTP__ENDPOINT", "0.0.0.0:8080"},
                              {"posthouse_http__workers", "12"},
                              {"Posthouse_Helper__Disable", "TRUE"},
                              {"POSTHOUSE_HELPER__API_TOKEN", "123"},
                              {"POSTHOUSE_HTTP__RETRY_AFTER__SAFETY_MARGIN", "0.5"},
                              {"POSTHOUSE_STORAGE__CRON__USER_DECRYPT_TIMEOUT", "1h 30m"},
                              {"POSTHOUSE_LOG__FORMAT", "json"},
                              {"POSTHOUSE_GATEWAY__CONTRACTS__DECRYPTION_ADDRESS",
                               "0x0000000000000000000000000000000000000001"},
                              {"POSTHOUSE_GATEWAY__LOOPBACK__ROUNDS_END", "2030-01-01T00:00:00Z"},
                              {"UNRELATED", "x"},
                              {"POSTHOUSEKEEPING", "x"},
                          }};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    const config::Settings& s = outcome.settings();
    CHECK(s.http.host == "0.0.0.0");
    CHECK(s.http.port == 8080);
    CHECK(s.http.workers == 12);
    CHECK(s.api.share_disable);
    CHECK(s.api.access.share_api_token == "123");
    CHECK(s.engine.retry_after.safety_margin_permille == 500);
    CHECK(s.engine.response_timeout.user_decrypt == std::chrono::minutes{90});
    CHECK(s.log.format == platform::LogFormat::json);
    CHECK(s.api.decryption_address[19] == 1);
    CHECK(domain::unix_ms(s.loopback.rounds_end) == 1'893'456'000'000);
}

TEST_CASE("T-145 indexed variables replace the whole list of the file") {
    const std::string_view file = R"(
[[host_chains]]
chain_id = 1
url = "http://one"
[[host_chains]]
chain_id = 2
[http.retry_after]
copro_kms_backoff_intervals = [[0, 1], [10, 2], [20, 3]]
[[gateway.loopback.outages]]
start = "1s"
duration = "1s"
)";
    const Outcome alone{file};
    REQUIRE(alone.accepted());
    CHECK(alone.settings().api.host_chain_ids == std::vector<std::uint64_t>{1, 2});

    const std::string backoff = "POSTHOUSE_HTTP__RETRY_AFTER__COPRO_KMS_BACKOFF_INTERVALS__";
    const Outcome outcome{
        file,
        {
            {"POSTHOUSE_HOST_CHAINS__0__CHAIN_ID", "8009"},
            {backoff + "0__ELAPSED_THRESHOLD_SECS", "0"},
            {backoff + "0__RETRY_INTERVAL_SECS", "7"},
            {backoff + "1__0", "60"},
            {backoff + "1__1", "9"},
            {"POSTHOUSE_GATEWAY__LOOPBACK__OUTAGES", "[]"},
            {"POSTHOUSE_GATEWAY__LOOPBACK__PROOF__0", "1s"},
            {"POSTHOUSE_GATEWAY__LOOPBACK__PROOF__1", "2s"},
            {"POSTHOUSE_METRICS__QUERY_DURATION_HISTOGRAM_BUCKET__0", "0.01"},
            {"POSTHOUSE_METRICS__QUERY_DURATION_HISTOGRAM_BUCKET__1", "1"},
            {"POSTHOUSE_GATEWAY__LISTENER_POOL__LISTENERS__0__TYPE", "polling"},
            {"POSTHOUSE_GATEWAY__LISTENER_POOL__LISTENERS__0__URL", "http://a"},
            {"POSTHOUSE_GATEWAY__LISTENER_POOL__LISTENERS__1__TYPE", "subscription"},
            {"POSTHOUSE_GATEWAY__LISTENER_POOL__LISTENERS__1__URL", "ws://a"},
        }};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().api.host_chain_ids == std::vector<std::uint64_t>{8009});
    CHECK(outcome.settings().engine.retry_after.copro_kms_backoff_intervals ==
          std::vector<domain::BackoffInterval>{{0, 7}, {60, 9}});
    CHECK(outcome.settings().loopback.outages.empty());
    CHECK(outcome.settings().loopback.proof ==
          chains::loopback::Latency{domain::Milliseconds{1000}, domain::Milliseconds{2000}});
}

TEST_CASE("an index of twelve entries counts as a number, not as text") {
    config::Environment environment;
    for (int i = 0; i < 12; ++i) {
        environment.emplace_back("POSTHOUSE_HOST_CHAINS__" + std::to_string(i) + "__CHAIN_ID",
                                 std::to_string(100 + i));
    }
    const Outcome outcome{"", environment};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    REQUIRE(outcome.settings().api.host_chain_ids.size() == 12);
    CHECK(outcome.settings().api.host_chain_ids[2] == 102);
    CHECK(outcome.settings().api.host_chain_ids[11] == 111);
}

TEST_CASE("flags beat variables, variables beat the file") {
    const std::string_view file =
        "http.endpoint = \"h:1\"\nstorage.data_dir = \"one\"\n"
        "log.level = \"error\"";
    config::Sources flags;
    flags.data_dir = "three";
    const Outcome outcome{
        file, {{"POSTHOUSE_HTTP__ENDPOINT", "h:2"}, {"POSTHOUSE_STORAGE__DATA_DIR", "two"}}, flags};
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().http.port == 2);
    CHECK(outcome.settings().store.directory == "three");
    CHECK(outcome.settings().loopback.ledger == "three/loopback.db");
    CHECK(outcome.settings().log.level == ports::LogLevel::error);

    flags.listen = "h:3";
    const Outcome listening{file, {{"POSTHOUSE_HTTP__ENDPOINT", "h:2"}}, flags};
    REQUIRE(listening.accepted());
    CHECK(listening.settings().http.port == 3);
}

TEST_CASE("the reference's APP_NAME is understood, ours wins") {
    const Outcome theirs{"", {{"APP_NAME", "relay"}}};
    REQUIRE(theirs.accepted());
    CHECK(theirs.settings().api.app_name == "relay");
    const Outcome ours{"", {{"APP_NAME", "relay"}, {"POSTHOUSE_HTTP__APP_NAME", "ours"}}};
    REQUIRE(ours.accepted());
    CHECK(ours.settings().api.app_name == "ours");
}

TEST_CASE("variables a container platform derives from a service name are passed over") {
    const Outcome outcome{"",
                          {{"POSTHOUSE_PORT", "tcp://10.0.0.1:3000"},
                           {"POSTHOUSE_PORT_3000_TCP_ADDR", "10.0.0.1"},
                           {"POSTHOUSE_SERVICE_HOST", "10.0.0.1"}}};
    CAPTURE(outcome.text());
    CHECK(outcome.accepted());
}

TEST_CASE("a mistake in a variable or flag names it") {
    struct Row {
        std::string_view label;
        config::Environment environment;
        std::string listen;
        std::vector<std::string> expected;
    };
    const std::vector<Row> rows{
        {"unknown",
         {{"POSTHOUSE_HTTP__ENDPONT", "h:1"}},
         "",
         {"POSTHOUSE_HTTP__ENDPONT: http.endpont: is no known key, did you mean http.endpoint "
          "(POSTHOUSE_HTTP__ENDPOINT)?"}},
        {"one underscore in a name with two",
         {{"POSTHOUSE_STORAGE_CRON__USER_DECRYPT_TIMEOUT", "1h"}},
         "",
         {"POSTHOUSE_STORAGE_CRON__USER_DECRYPT_TIMEOUT: storage_cron.user_decrypt_timeout: is no "
          "known key, did you mean storage.cron.user_decrypt_timeout "
          "(POSTHOUSE_STORAGE__CRON__USER_DECRYPT_TIMEOUT)?"}},
        {"unknown in a list",
         {{"POSTHOUSE_HOST_CHAINS__0__CHAINID", "1"}},
         "",
         {"POSTHOUSE_HOST_CHAINS__0__CHAINID: host_chains[0].chainid: is no known key, did you "
          "mean "
          "host_chains[].chain_id (POSTHOUSE_HOST_CHAINS__N__CHAIN_ID)?",
          "POSTHOUSE_HOST_CHAINS__0__CHAINID: host_chains[0].chain_id: is missing; allowed: 1 to "
          "9223372036854775807"}},
        {"not a number",
         {{"POSTHOUSE_HTTP__WORKERS", "many"}},
         "",
         {"POSTHOUSE_HTTP__WORKERS: http.workers: must be a whole number, is \"many\"; allowed: 1 "
          "to "
          "1024"}},
        {"empty",
         {{"POSTHOUSE_HTTP__WORKERS", ""}},
         "",
         {"POSTHOUSE_HTTP__WORKERS: http.workers: must be a whole number, is \"\"; allowed: 1 to "
          "1024"}},
        {"a number and more",
         {{"POSTHOUSE_HTTP__WORKERS", "8 "}},
         "",
         {"POSTHOUSE_HTTP__WORKERS: http.workers: must be a whole number, is \"8 \"; allowed: 1 to "
          "1024"}},
        {"beyond 64 bits",
         {{"POSTHOUSE_HTTP__WORKERS", "99999999999999999999"}},
         "",
         {"POSTHOUSE_HTTP__WORKERS: http.workers: must be a whole number, is "
          "\"99999999999999999999\"; allowed: 1 to 1024"}},
        {"not a bool",
         {{"POSTHOUSE_HELPER__DISABLE", "maybe"}},
         "",
         {"POSTHOUSE_HELPER__DISABLE: helper.disable: must be true or false, is \"maybe\"; "
          "allowed: "
          "true or false"}},
        {"twice",
         {{"POSTHOUSE_HTTP__WORKERS", "1"}, {"posthouse_http__workers", "2"}},
         "",
         {"posthouse_http__workers: is given twice, or both as a whole and in parts"}},
        {"whole and parts",
         {{"POSTHOUSE_HTTP", "1"}, {"POSTHOUSE_HTTP__WORKERS", "1"}},
         "",
         {"POSTHOUSE_HTTP__WORKERS: is given twice, or both as a whole and in parts",
          "POSTHOUSE_HTTP: http: must be a table, is text; allowed: [http] and keys below it"}},
        {"empty level",
         {{"POSTHOUSE_HTTP____WORKERS", "1"}},
         "",
         {"POSTHOUSE_HTTP____WORKERS: names no key; write POSTHOUSE_HTTP__ENDPOINT for "
          "http.endpoint"}},
        {"name that would drive a terminal",
         {{"POSTHOUSE_LOG__\x1b[2J\n", "1"}},
         "",
         {"POSTHOUSE_LOG__\\x1b[2J\\n: \"log.\\x1b[2j\\n\": is no known key, did you mean "
          "log.level (POSTHOUSE_LOG__LEVEL)?"}},
        {"gap in a list",
         {{"POSTHOUSE_HOST_CHAINS__1__CHAIN_ID", "1"}},
         "",
         {"POSTHOUSE_HOST_CHAINS__1__CHAIN_ID: host_chains: the indexes must count 0, 1, 2 …; "
          "allowed: 1 to 1000 entries, each a table"}},
        {"flag",
         {},
         "3000",
         {"--listen: http.endpoint: \"3000\" is no address to listen on; allowed: HOST:PORT, port "
          "0 "
          "to 65535 (0: any free one), an IPv6 address in brackets"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        config::Sources flags;
        if (!row.listen.empty()) flags.listen = row.listen;
        const Outcome outcome{"", row.environment, flags};
        CHECK(outcome.errors() == row.expected);
    }
}

TEST_CASE("an unknown variable without __ is left out with a warning, whatever it holds") {
    struct Row {
        std::string_view label;
        std::string name;
        std::string warning;
    };
    const std::vector<Row> rows{
        {"one underscore", "POSTHOUSE_HTTP_ENDPOINT",
         "variable_unknown name=\"POSTHOUSE_HTTP_ENDPOINT\" action=\"left out\" hint=\"did you "
         "mean "
         "POSTHOUSE_HTTP__ENDPOINT?\""},
        {"somebody else's", "POSTHOUSE_VERSION", "variable_unknown name=\"POSTHOUSE_VERSION\" "},
        {"in small letters", "posthouse_home", "variable_unknown name=\"posthouse_home\" "},
        {"no name", "POSTHOUSE_", "variable_unknown name=\"POSTHOUSE_\" "},
        {"name that would drive a terminal", "POSTHOUSE_\x1b[2J\n",
         "variable_unknown name=\"POSTHOUSE_\\\\x1b[2J\\\\n\" "},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Outcome outcome{"", {{row.name, "hunter2"}, {"POSTHOUSE_HTTP__WORKERS", "12"}}};
        CAPTURE(outcome.text());
        REQUIRE(outcome.accepted());
        CHECK(outcome.settings().http.workers == 12);
        REQUIRE(outcome.loaded().warnings.size() == 1);
        CHECK(outcome.loaded().warnings.front().starts_with(row.warning));
        CHECK(outcome.text().find("hunter2") == std::string::npos);
    }
}

TEST_CASE("addresses to listen on") {
    struct Row {
        std::string_view text;
        bool accepted;
    };
    const std::vector<Row> rows{
        {"127.0.0.1:3000", true},
        {"localhost:0", true},
        {"[::]:3000", true},
        {"[fe80::1]:1", true},
        {"relay-1.example:65535", true},
        {":3000", false},
        {"127.0.0.1", false},
        {"127.0.0.1:", false},
        {"h:65536", false},
        {"h:-1", false},
        {"h:3000x", false},
        {"::1:3000", false},
        {"[h]:3000", false},
        {"[]:3000", false},
        {"h h:3000", false},
        {"", false},
        {"h:000080", false},
        {"http://h:3000", false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        config::Sources flags;
        flags.listen = std::string{row.text};
        CHECK(Outcome{"", {}, flags}.accepted() == row.accepted);
    }
}

TEST_CASE("names of variables follow from names of keys") {
    CHECK(config::variable_of("http.endpoint") == "POSTHOUSE_HTTP__ENDPOINT");
    CHECK(config::variable_of("host_chains[].chain_id") == "POSTHOUSE_HOST_CHAINS__N__CHAIN_ID");
    CHECK(config::variable_of("host_chains[3].url") == "POSTHOUSE_HOST_CHAINS__3__URL");
}

TEST_CASE("the proxies of the environment are taken by who asks others") {
    const std::string webhook = "[helper.alert_webhook]\nurl = \"https://alerts.test/hook\"\n";
    const auto url = net::parse_url("https://alerts.test/hook").value();
    const Outcome fine(webhook, {{"HTTPS_PROXY", "http://u:s3cret@proxy.test:3128"}});
    REQUIRE(fine.accepted());
    const net::Url* const proxy = fine.settings().proxies.proxy_for(url);
    REQUIRE(proxy != nullptr);
    CHECK(proxy->port == 3128);

    const Outcome wrong(webhook, {{"https_proxy", "socks5://u:s3cret@proxy.test"}});
    REQUIRE(wrong.errors().size() == 1);
    CHECK(wrong.errors().front().starts_with("https_proxy: "));
    CHECK(wrong.text().find("s3cret") == std::string::npos);
    CHECK(Outcome("", {{"https_proxy", "socks5://u:s3cret@proxy.test"}}).accepted());
}
