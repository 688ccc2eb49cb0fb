#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/cross_checks.hpp"
#include "config/keys.hpp"
#include "config/source.hpp"
#include "harness.hpp"

using config_test::Outcome;
using std::chrono::milliseconds;

namespace {

const std::string key_digits = "136e6acf4c05b5a20ee6d04ea61d8b6b6a6a1d7f11b0b3a8b3e1f10c7f5d2a31";

// The smallest that is complete, one key a line.
std::vector<std::string> minimal() {
    return {
        "gateway.type = \"evm\"",
        "gateway.blockchain_rpc.http_url = \"http://gateway\"",
        "gateway.blockchain_rpc.chain_id = 654321",
        "gateway.contracts.decryption_address = \"0x26d798AA41C6Af4EFd0b548b0Fa9668EA1575865\"",
        "gateway.contracts.input_verification_address = "
        "\"0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2\"",
        "gateway.contracts.user_decrypt_shares_threshold = 9",
        "gateway.tx_engine.signer.type = \"private_key\"",
        "gateway.tx_engine.signer.private_key = \"" + key_digits + "\"",
        "protocol_config.ethereum_http_rpc_url = \"http://ethereum\"",
        "protocol_config.address = \"0x00000000000000000000000000000000000000a1\"",
        "keyurl.kms_generation_address = \"0x00000000000000000000000000000000000000A2\"",
        "gateway.listener_pool.listeners = [{type = \"polling\", url = \"http://one\"}, "
        "{type = \"subscription\", url = \"ws://two\"}]",
        "host_chains = [{chain_id = 8009, url = \"http://host\", acl_address = "
        "\"0x00000000000000000000000000000000000000a3\"}]",
    };
}

std::string joined(const std::vector<std::string>& lines) {
    std::string file;
    for (const std::string& line : lines) file += line + "\n";
    return file;
}

std::string without(std::string_view start) {
    std::string file;
    for (const std::string& line : minimal()) {
        if (!line.starts_with(start)) file += line + "\n";
    }
    return file;
}

std::string with(const std::string& line) {
    return without(line.substr(0, line.find(" ="))) + line + "\n";
}

// Where its last line stands.
std::string last_line(const std::string& file) {
    return "FILE:" + std::to_string(std::ranges::count(file, '\n')) + ": ";
}

domain::Address address_ending(std::uint8_t last) {
    domain::Address address{};
    address.back() = last;
    return address;
}

}  // namespace

TEST_CASE("a minimal configuration of a real chain is complete") {
    const Outcome outcome{joined(minimal())};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    const config::Settings& s = outcome.settings();
    CHECK(s.gateway == config::GatewayType::evm);
    CHECK(s.evm.chain_id == 654'321);
    CHECK(s.evm.write_urls == std::vector<std::string>{"http://gateway"});
    CHECK(s.evm.read_urls == s.evm.write_urls);
    CHECK(s.evm.decryption == s.api.decryption_address);
    CHECK(s.evm.decryption[0] == 0x26);
    CHECK(s.evm.input_verification[0] == 0x33);
    CHECK(s.evm.signer.private_key == key_digits);
    CHECK(s.evm.protocol_config.urls == std::vector<std::string>{"http://ethereum"});
    CHECK(s.evm.protocol_config.address == address_ending(0xa1));
    CHECK(s.evm.key_urls.kms_generation == address_ending(0xa2));
    REQUIRE(s.evm.host_chains.size() == 1);
    CHECK(s.evm.host_chains[0].chain_id == 8009);
    CHECK(s.evm.host_chains[0].urls == std::vector<std::string>{"http://host"});
    CHECK(s.evm.host_chains[0].acl == address_ending(0xa3));
    using Type = chains::evm::Options::Listener::Type;
    REQUIRE(s.evm.listening.listeners.size() == 2);
    CHECK(s.evm.listening.listeners[0].type == Type::polling);
    CHECK(s.evm.listening.listeners[0].url == "http://one");
    CHECK(s.evm.listening.listeners[1].type == Type::subscription);
    CHECK(s.evm.listening.listeners[1].url == "ws://two");
    CHECK_FALSE(s.evm.listening.first_block);
    CHECK_FALSE(s.evm.protocol_payment);
    CHECK_FALSE(s.evm.fee_token);
    CHECK(s.evm.sends_max == 100);
}

TEST_CASE("vote shares are switched off beside a real chain, and it is said") {
    const Outcome outcome{joined(minimal())};
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().api.share_disable);
    REQUIRE(outcome.loaded().warnings.size() == 1);
    CHECK(outcome.loaded().warnings[0].starts_with("vote_shares_off hint="));
    const Outcome off{with("helper.disable = true")};
    REQUIRE(off.accepted());
    CHECK(off.loaded().warnings.empty());
    CHECK_FALSE(Outcome{""}.settings().api.share_disable);
}

TEST_CASE("every key of a real chain arrives where the gateway reads it") {
    const std::string file = joined(minimal()) + R"(
gateway.blockchain_rpc.read_http_url = "http://reads"
gateway.blockchain_rpc.http_fallback_urls = ["http://gateway2", "https://gateway3"]
gateway.blockchain_rpc.read_fallback_urls = ["http://reads2"]
gateway.blockchain_rpc.call_timeout_ms = 1234
gateway.blockchain_rpc.send_timeout_ms = 61000
gateway.blockchain_rpc.batch_max = 7
protocol_config.fallback_urls = ["http://ethereum2"]
protocol_config.retry = { max_attempts = 4, retry_interval_ms = 201 }
protocol_config.threshold_age_max_ms = 60001
keyurl.poll_interval_ms = 12001
user_decrypt_signature_check.erc1271_gas_limit = 100001
gateway.listener_pool.last_block_number = 17
gateway.listener_pool.poll_interval_ms = 2001
gateway.listener_pool.recycle_interval_mins = 31
gateway.listener_pool.reconnect_config.retry_interval_ms = 501
gateway.listener_pool.confirmations = 3
gateway.listener_pool.reorg_depth = 65
gateway.listener_pool.range_max = 1999
gateway.tx_engine.max_concurrency = 55
gateway.tx_engine.retry.max_attempts = 99
gateway.tx_engine.foreign_use_patience_ms = 30001
gateway.tx_engine.signer.low_balance_ether = "0.000000000000000007"
gateway.tx_engine.fees.age_max_ms = 1001
gateway.tx_engine.fees.bump_after_ms = 30002
gateway.tx_engine.fees.bump_permille = 150
gateway.tx_engine.fees.max_fee_cap_gwei = 0.1
gateway.readiness_checker.host_acl_check.retry = { max_attempts = 5, retry_interval_ms = 1002 }
gateway.contracts.protocol_payment_address = "0x00000000000000000000000000000000000000b1"
gateway.contracts.fee_token_address = "0x00000000000000000000000000000000000000b2"
)";
    const Outcome outcome{file};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    const chains::evm::Options& evm = outcome.settings().evm;
    using Urls = std::vector<std::string>;
    CHECK(evm.write_urls == Urls{"http://gateway", "http://gateway2", "https://gateway3"});
    CHECK(evm.read_urls == Urls{"http://reads", "http://reads2"});
    CHECK(evm.call_timeout == milliseconds{1234});
    CHECK(evm.send_timeout == milliseconds{61'000});
    CHECK(evm.batch_max == 7);
    CHECK(evm.protocol_config.urls == Urls{"http://ethereum", "http://ethereum2"});
    CHECK(evm.protocol_config.retry.attempts_max == 4);
    CHECK(evm.protocol_config.retry.pause == milliseconds{201});
    CHECK(evm.protocol_config.threshold_age_max == milliseconds{60'001});
    CHECK(evm.key_urls.poll_interval == milliseconds{12'001});
    CHECK(evm.erc1271_gas_limit == 100'001);
    CHECK(evm.listening.first_block == 17);
    CHECK(evm.listening.poll_interval == milliseconds{2'001});
    CHECK(evm.listening.recycle_interval == std::chrono::minutes{31});
    CHECK(evm.listening.retry_interval == milliseconds{501});
    CHECK(evm.listening.confirmations == 3);
    CHECK(evm.listening.reorg_depth == 65);
    CHECK(evm.listening.range_max == 1'999);
    CHECK(evm.sends_max == 55);
    CHECK(outcome.settings().engine.sends_max == 55);
    CHECK(evm.estimation_attempts_max == 99);
    CHECK(evm.foreign_use_patience == milliseconds{30'001});
    CHECK((evm.signer.low_balance == 7));
    CHECK(evm.fees.age_max == milliseconds{1'001});
    CHECK(evm.fees.bump_after == milliseconds{30'002});
    CHECK(evm.fees.bump_permille == 150);
    CHECK((evm.fees.max_fee_cap == 100'000'000));
    CHECK(evm.acl_retry.attempts_max == 5);
    CHECK(evm.acl_retry.pause == milliseconds{1'002});
    CHECK(evm.protocol_payment == address_ending(0xb1));
    CHECK(evm.fee_token == address_ending(0xb2));
}

TEST_CASE("nodes that stand in come behind the preferred one, whatever is written first") {
    struct Row {
        std::string_view label;
        std::string chain;
        std::vector<std::string> expected;
    };
    const std::string rest = "acl_address = \"0x00000000000000000000000000000000000000a3\"";
    const std::vector<Row> rows{
        {"none", "url = \"http://a\", fallback_urls = []", {"http://a"}},
        {"two",
         "fallback_urls = [\"http://b\", \"http://c\"], url = \"http://a\"",
         {"http://a", "http://b", "http://c"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Outcome outcome{
            with("host_chains = [{chain_id = 8009, " + row.chain + ", " + rest + "}]")};
        CAPTURE(outcome.text());
        REQUIRE(outcome.accepted());
        CHECK(outcome.settings().evm.host_chains[0].urls == row.expected);
    }
    const Outcome by_variable{
        joined(minimal()),
        {{"POSTHOUSE_GATEWAY__BLOCKCHAIN_RPC__HTTP_FALLBACK_URLS__0", "http://x"},
         {"POSTHOUSE_GATEWAY__BLOCKCHAIN_RPC__HTTP_FALLBACK_URLS__1", "http://y"}}};
    CAPTURE(by_variable.text());
    REQUIRE(by_variable.accepted());
    CHECK(by_variable.settings().evm.write_urls ==
          std::vector<std::string>{"http://gateway", "http://x", "http://y"});
}

TEST_CASE("a configuration by variables alone is complete too") {
    config::Environment environment{
        {"POSTHOUSE_GATEWAY__TYPE", "evm"},
        {"POSTHOUSE_GATEWAY__BLOCKCHAIN_RPC__HTTP_URL", "http://gateway"},
        {"POSTHOUSE_GATEWAY__BLOCKCHAIN_RPC__CHAIN_ID", "654321"},
        {"POSTHOUSE_GATEWAY__CONTRACTS__USER_DECRYPT_SHARES_THRESHOLD", "9"},
        {"POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__TYPE", "private_key"},
        {"POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__PRIVATE_KEY", "0x" + key_digits},
        {"POSTHOUSE_PROTOCOL_CONFIG__ETHEREUM_HTTP_RPC_URL", "http://ethereum"},
        {"POSTHOUSE_GATEWAY__LISTENER_POOL__LISTENERS__0__TYPE", "polling"},
        {"POSTHOUSE_GATEWAY__LISTENER_POOL__LISTENERS__0__URL", "http://one"},
        {"POSTHOUSE_HOST_CHAINS__0__CHAIN_ID", "8009"},
        {"POSTHOUSE_HOST_CHAINS__0__URL", "http://host"},
    };
    for (const std::string name :
         {"GATEWAY__CONTRACTS__DECRYPTION_ADDRESS",
          "GATEWAY__CONTRACTS__INPUT_VERIFICATION_ADDRESS", "PROTOCOL_CONFIG__ADDRESS",
          "KEYURL__KMS_GENERATION_ADDRESS", "HOST_CHAINS__0__ACL_ADDRESS"}) {
        environment.emplace_back("POSTHOUSE_" + name, "0x" + std::string(39, '0') + "1");
    }
    const Outcome outcome{"", environment};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().evm.signer.private_key == "0x" + key_digits);
    CHECK(outcome.settings().evm.host_chains[0].acl == address_ending(1));
}

TEST_CASE("the documented configuration is complete, and all that is said is what must be") {
    std::ifstream page{POSTHOUSE_SOURCE_ROOT "/docs/real-gateway.md"};
    std::string file;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        if (line == "## Configuration") inside = true;
        if (inside && line.starts_with("    ")) file += line + "\n";
        if (inside && line.empty() && !file.empty()) break;
    }
    const Outcome outcome{file};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().gateway == config::GatewayType::evm);
    CHECK(outcome.loaded().warnings.size() == 1);
    CHECK(outcome.loaded().notes.empty());
}

TEST_CASE("what a real chain needs and is missing is named with its purpose and an example") {
    struct Row {
        std::string start;  // of the line that is taken away
        std::string key;
        std::string expected;
    };
    const std::string address =
        "an address: 0x and 40 hexadecimal digits; for example "
        "\"0x0000000000000000000000000000000000000001\"";
    const std::vector<Row> rows{
        {"gateway.blockchain_rpc.http_url", "",
         "JSON-RPC of the gateway chain, for transactions; allowed: http://HOST… or "
         "https://HOST…; for example \"http://localhost:8757\""},
        {"gateway.blockchain_rpc.chain_id", "",
         "Id of the gateway chain; allowed: 1 to 9223372036854775807; for example 654321"},
        {"gateway.contracts.decryption_address", "",
         "The decryption contract; user signatures are checked against it; allowed: an address: 0x "
         "and 40 hexadecimal digits; for example \"0x26d798aa41c6af4efd0b548b0fa9668ea1575865\""},
        {"gateway.contracts.input_verification_address", "",
         "The input verification contract; allowed: " + address},
        {"gateway.contracts.user_decrypt_shares_threshold", "",
         "Shares that complete a user decryption whose context says nothing else; allowed: 1 to "
         "10000; for example 9"},
        {"gateway.tx_engine.signer", "gateway.tx_engine.signer.type",
         "Who signs transactions: a key in this process, one of AWS KMS, or somebody who answers "
         "eth_signTransaction (Web3Signer, Clef, plugins of Vault); allowed: private_key, aws_kms "
         "or remote; for example \"private_key\""},
        {"protocol_config.ethereum_http_rpc_url", "",
         "JSON-RPC of the protocol's chain; allowed: http://HOST… or https://HOST…; for example "
         "\"http://localhost:8545\""},
        {"protocol_config.address", "", "The protocol configuration contract; allowed: " + address},
        {"keyurl.kms_generation_address", "", "The key generation contract; allowed: " + address},
        {"gateway.listener_pool.listeners", "",
         "Where the events of the gateway chain come from; allowed: 1 to 5 entries, each a table; "
         "for example {type = \"polling\", url = \"http://localhost:8757\"}"},
        {"host_chains", "",
         "The chains whose handles are served; allowed: a list of tables; for example "
         "[[host_chains]] with chain_id, url and acl_address"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.start);
        const Outcome outcome{without(row.start)};
        CAPTURE(outcome.text());
        const std::string expected = "FILE:1: " + (row.key.empty() ? row.start : row.key) +
                                     ": is missing, gateway.type evm needs it: " + row.expected;
        CHECK(std::ranges::count(outcome.errors(), expected) == 1);
        if (row.key.empty()) CHECK(outcome.errors().size() == 1);
    }
    const Outcome nothing{"gateway.type = \"evm\""};
    CHECK(nothing.errors().size() == 12);
    CHECK(nothing.text().find(
              "gateway.tx_engine.signer.private_key: is missing, gateway.type evm "
              "needs it: The key that signs transactions; allowed: 64 hexadecimal "
              "digits, or the file that holds them in private_key_file; for example "
              "private_key_file = \"/etc/posthouse/signer-key\"") != std::string::npos);
}

TEST_CASE("each host chain needs its node and its access list") {
    const Outcome outcome{
        with("host_chains = [{chain_id = 1}, {chain_id = 2, url = \"http://a\"}]")};
    const std::vector<std::string> keys{"host_chains[0].url", "host_chains[0].acl_address",
                                        "host_chains[1].acl_address"};
    REQUIRE(outcome.errors().size() == keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        CHECK(outcome.errors()[i].starts_with("FILE:1: " + keys[i] +
                                              ": is missing, gateway.type evm needs it: "));
    }
}

TEST_CASE("what can not be right with a real chain is refused") {
    const std::string zero = "\"0x" + std::string(40, '0') + "\"";
    const std::string no_contract =
        "is the zero address, where no contract can be; allowed: the address of the contract";
    struct Row {
        std::string line;
        std::string expected;  // key and problem
    };
    std::vector<Row> rows{
        {"gateway.tx_engine.signer = { type = \"private_key\" }",
         "gateway.tx_engine.signer.private_key: is missing; allowed: 64 hexadecimal digits, or the "
         "file that holds them in private_key_file"},
        {"gateway.blockchain_rpc.read_fallback_urls = [\"http://a\"]",
         "gateway.blockchain_rpc.read_fallback_urls: needs gateway.blockchain_rpc.read_http_url "
         "beside it; allowed: both, or neither to read from the nodes for transactions"},
        {"host_chains = [{chain_id = 1, url = \"http://a\", acl_address = " + zero + "}]",
         "host_chains[0].acl_address: " + no_contract},
    };
    for (const std::string key :
         {"gateway.contracts.decryption_address", "gateway.contracts.input_verification_address",
          "gateway.contracts.protocol_payment_address", "gateway.contracts.fee_token_address",
          "protocol_config.address", "keyurl.kms_generation_address"}) {
        rows.push_back({key + " = " + zero, key + ": " + no_contract});
    }
    for (const Row& row : rows) {
        CAPTURE(row.line);
        std::string file = row.line.starts_with("gateway.tx_engine.signer")
                               ? without("gateway.tx_engine.signer") + row.line + "\n"
                               : with(row.line);
        const Outcome outcome{file};
        CHECK(outcome.errors() == std::vector<std::string>{last_line(file) + row.expected});
    }
}

TEST_CASE("rules of a chain hold with the loopback too") {
    struct Row {
        std::string line;
        std::string expected;
    };
    const std::string pool = "gateway.listener_pool.";
    const std::string fees = "gateway.tx_engine.fees.";
    const std::string rpc = "gateway.blockchain_rpc.";
    const std::vector<Row> rows{
        {pool + "confirmations = 64", pool +
                                          "confirmations: confirmations is 64, reorg_depth is 64; "
                                          "allowed: confirmations below reorg_depth"},
        {pool + "reorg_depth = 0", pool + "reorg_depth: 0 is out of range; allowed: 1 to 100000"},
        {pool + "poll_interval_ms = 0",
         pool + "poll_interval_ms: 0 is out of range; allowed: 1 to 3600000"},
        {pool + "range_max = 0", pool + "range_max: 0 is out of range; allowed: 1 to 1000000"},
        {fees + "bump_permille = 100",
         fees + "bump_permille: 100 is out of range; allowed: 101 to 1000"},
        {fees + "bump_after_ms = 999",
         fees + "bump_after_ms: 999 is out of range; allowed: 1000 to 3600000"},
        {rpc + "send_timeout_ms = 1000",
         rpc + "send_timeout_ms: 1000 is out of range; allowed: 1001 to 600000"},
        {rpc + "send_timeout_ms = 600000",
         rpc + "send_timeout_ms: send_timeout_ms is 10m, foreign_use_patience_ms is 30s, "
               "engine.lease is 10m; allowed: both together below engine.lease"},
        {rpc + "batch_max = 0", rpc + "batch_max: 0 is out of range; allowed: 1 to 1000"},
        {rpc + "http_fallback_urls = [\"http://a\", \"ftp://b\"]",
         rpc + "http_fallback_urls[1]: is no URL of an allowed kind; allowed: a list of at most 8, "
               "each http://HOST… or https://HOST…"},
        {rpc + "http_fallback_urls = \"http://a\"",
         rpc + "http_fallback_urls: must be a list, is text; allowed: a list of at most 8, each "
               "http://HOST… or https://HOST…"},
        {rpc + "http_fallback_urls = [\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\"]",
         rpc + "http_fallback_urls: has 9 entries; allowed: a list of at most 8, each http://HOST… "
               "or https://HOST…"},
        {"protocol_config.retry.max_attempts = 0",
         "protocol_config.retry.max_attempts: 0 is out of range; allowed: 1 to 1000000"},
        {"gateway.readiness_checker.host_acl_check.retry.max_attempts = 0",
         "gateway.readiness_checker.host_acl_check.retry.max_attempts: 0 is out of range; allowed: "
         "1 to 1000000"},
        {"gateway.tx_engine.retry.max_attempts = 0",
         "gateway.tx_engine.retry.max_attempts: 0 is out of range; allowed: 1 to 1000000000"},
        {"gateway.tx_engine.foreign_use_patience_ms = 999",
         "gateway.tx_engine.foreign_use_patience_ms: 999 is out of range; allowed: 1000 to "
         "3600000"},
        {fees + "max_fee_cap_gwei = 0.0000000001",
         fees +
             "max_fee_cap_gwei: \"0.0000000001\" is no such amount; allowed: 0 to 1000000000, at "
             "most 9 decimals; as text when it has more than 15 digits"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.line);
        CHECK(Outcome{row.line}.errors() == std::vector<std::string>{"FILE:1: " + row.expected});
        const std::string file = with(row.line);
        CHECK(Outcome{file}.errors() == std::vector<std::string>{last_line(file) + row.expected});
    }
}

TEST_CASE("a short lease is refused beside a real chain only") {
    CHECK(Outcome{"engine.lease = \"1m\""}.accepted());
    const std::string file = with("engine.lease = \"1m\"");
    CHECK(Outcome{file}.errors() ==
          std::vector<std::string>{
              last_line(file) +
              "engine.lease: send_timeout_ms is 75s, foreign_use_patience_ms is 30s, "
              "engine.lease is 1m; allowed: both together below engine.lease"});
}

TEST_CASE("keys of a chain are checked with the loopback and have no effect, which is said") {
    std::string file;
    for (const std::string& line : minimal()) {
        if (!line.starts_with("gateway.type")) file += line + "\n";
    }
    const Outcome outcome{file + "gateway.tx_engine.fees.bump_permille = 150\n"};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    REQUIRE(outcome.loaded().warnings.size() == 1);
    const std::string& line = outcome.loaded().warnings[0];
    CHECK(line.starts_with("settings_without_effect reason=\"the gateway is a loopback\" keys=\""));
    for (const std::string_view key :
         {"host_chains[].url", "gateway.tx_engine.fees.bump_permille",
          "gateway.blockchain_rpc.chain_id", "gateway.listener_pool.listeners[].type",
          "gateway.tx_engine.signer.private_key"}) {
        CAPTURE(key);
        CHECK(line.find(key) != std::string::npos);
    }
    CHECK_FALSE(outcome.settings().api.share_disable);
}

TEST_CASE("keys of the loopback have no effect beside a real chain") {
    const Outcome outcome{with("gateway.loopback.seed = 7")};
    REQUIRE(outcome.accepted());
    CHECK(outcome.loaded().notes ==
          std::vector<std::string>{"settings_without_effect reason=\"the gateway is no loopback\" "
                                   "keys=\"gateway.loopback.seed\""});
    // Twelve invented nodes are no bound for real ones.
    CHECK(Outcome{with("gateway.contracts.user_decrypt_shares_threshold = 14")}
              .loaded()
              .warnings.size() == 1);
}

TEST_CASE("what the reference needs and this engine does not is said") {
    for (const std::string key :
         {"gateway.listener_pool.polling_max_attempts", "gateway.listener_pool.dedup_ttl_seconds",
          "gateway.listener_pool.reconnect_config.max_attempts",
          "gateway.gw_event_not_found_retry.max_retries",
          "gateway.blockchain_rpc.http_health_check_timeout_secs"}) {
        CAPTURE(key);
        const Outcome outcome{with(key + " = 5")};
        REQUIRE(outcome.accepted());
        CHECK(std::ranges::count(outcome.loaded().warnings,
                                 "settings_without_effect reason=\"this engine works without\" "
                                 "keys=\"" +
                                     key + "\"") == 1);
    }
}

TEST_CASE("one listener is enough, and too few to rely on") {
    const Outcome outcome{
        with("gateway.listener_pool.listeners = [{type = \"polling\", url = \"http://one\"}]")};
    REQUIRE(outcome.accepted());
    const auto& warnings = outcome.loaded().warnings;
    CHECK(std::ranges::count_if(warnings, [](const std::string& line) {
              return line.starts_with("one_listener ") &&
                     line.find("one listener: no redundancy") != std::string::npos;
          }) == 1);
    CHECK_FALSE(Outcome{with("gateway.listener_pool.listeners = []")}.accepted());
}

TEST_CASE("more sends at once than threads are sensible are cut, and it is said") {
    const Outcome outcome{with("gateway.tx_engine.max_concurrency = 5000")};
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().evm.sends_max == config::evm_sends_max);
    CHECK(outcome.settings().engine.sends_max == config::evm_sends_max);
    REQUIRE(outcome.loaded().notes.size() == 1);
    CHECK(outcome.loaded().notes[0].starts_with(
        "setting_adjusted key=gateway.tx_engine.max_concurrency value=1000 "));
    CHECK(Outcome{"gateway.tx_engine.max_concurrency = 5000"}.settings().engine.sends_max == 5'000);
}

TEST_CASE("a key in a file instead") {
    const std::string signer = "gateway.tx_engine.signer";
    const Outcome outcome{
        without(signer) + signer +
        " = { type = \"private_key\", private_key_file = \"credential:signer\" }"};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().evm.signer.private_key_file == "credential:signer");
    CHECK(outcome.settings().evm.signer.private_key.empty());
}

TEST_CASE("a key in a file that others may use is refused, one from the environment never is") {
    using std::filesystem::perms;
    const std::string line = "gateway.tx_engine.signer.private_key";
    for (const perms mode : {perms{0644}, perms{0604}, perms{0602}}) {
        const Outcome open{joined(minimal()), {}, {}, mode};
        REQUIRE(open.errors().size() == 1);
        CHECK(open.errors()[0].find(line + ": lies in a file that is open to other users") !=
              std::string::npos);
        CHECK(open.errors()[0].starts_with("FILE:8: "));
        CHECK(open.text().find(key_digits) == std::string::npos);
    }
    CHECK(Outcome(joined(minimal()), {}, {}, perms{0640}).accepted());
    const config::Environment environment{
        {"POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__PRIVATE_KEY", key_digits}};
    CHECK(Outcome(without(line), environment, {}, perms{0644}).accepted());
}
