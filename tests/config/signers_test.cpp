// [[gateway.tx_engine.signers]]: several keys at once.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "harness.hpp"

using config_test::Outcome;
using SignerType = chains::evm::Options::Signing::Type;

namespace {

const std::string first_digits(64, '1');
const std::string second_digits(64, '2');
const std::string address_a = "\"0x26d798AA41C6Af4EFd0b548b0Fa9668EA1575865\"";
const std::string address_b = "\"0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2\"";

// Complete but for who signs.
const std::string all_but_signers = R"(gateway.type = "evm"
gateway.blockchain_rpc.http_url = "http://gateway"
gateway.blockchain_rpc.chain_id = 654321
gateway.contracts.user_decrypt_shares_threshold = 9
gateway.contracts.decryption_address = "0x26d798AA41C6Af4EFd0b548b0Fa9668EA1575865"
gateway.contracts.input_verification_address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"
protocol_config.ethereum_http_rpc_url = "http://ethereum"
protocol_config.address = "0x00000000000000000000000000000000000000a1"
keyurl.kms_generation_address = "0x00000000000000000000000000000000000000A2"
gateway.listener_pool.listeners = [{type = "polling", url = "http://one"}]
host_chains = [{chain_id = 8009, url = "http://host", acl_address = "0x00000000000000000000000000000000000000a3"}]
)";

std::string entry(const std::string& lines) {
    return "[[gateway.tx_engine.signers]]\n" + lines;
}

std::string entry_with(const std::string& digits) {
    return entry("type = \"private_key\"\nprivate_key = \"" + digits + "\"\n");
}

bool is_said(const Outcome& outcome, const std::string& error) {
    return std::ranges::count(outcome.errors(), error) == 1;
}

}  // namespace

TEST_CASE("several keys of every type arrive where the gateway reads them") {
    const Outcome outcome{all_but_signers + entry_with(first_digits) +
                          entry("type = \"private_key\"\nprivate_key_file = \"/k\"\n"
                                "low_balance_ether = 0.5\n") +
                          entry("type = \"aws_kms\"\nkey_id = \"k\"\nregion = \"eu-1\"\n"
                                "endpoint = \"http://kms\"\naddress = " +
                                address_a + "\n") +
                          entry("type = \"remote\"\nurl = \"https://h\"\ntoken_file = \"/t\"\n"
                                "timeout = \"1s\"\naddress = " +
                                address_b + "\n")};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    const auto& settings = outcome.settings().evm;
    const auto keys = settings.keys();
    REQUIRE(keys.size() == 4);
    CHECK(keys[0].private_key == first_digits);
    CHECK(keys[1].private_key_file == "/k");
    CHECK((keys[1].low_balance == 500'000'000'000'000'000U));
    CHECK(keys[2].type == SignerType::aws_kms);
    CHECK(keys[2].key_id == "k");
    CHECK(keys[2].endpoint == "http://kms");
    CHECK(keys[2].address[0] == 0x26);
    CHECK(keys[3].type == SignerType::remote);
    CHECK(keys[3].timeout == std::chrono::seconds{1});
    CHECK(keys[3].token_file == "/t");
    CHECK(keys[3].table == "gateway.tx_engine.signers[3]");
}

TEST_CASE("one signer is a list of one, by its own name") {
    const Outcome outcome{all_but_signers +
                          "gateway.tx_engine.signer = {type = \"private_key\", private_key = "
                          "\"" +
                          first_digits + "\"}\n"};
    REQUIRE(outcome.accepted());
    REQUIRE(outcome.settings().evm.keys().size() == 1);
    CHECK(outcome.settings().evm.keys()[0].private_key == first_digits);
    CHECK(outcome.settings().evm.keys()[0].table == "gateway.tx_engine.signer");
}

TEST_CASE("several keys by variables alone") {
    const std::string start = "POSTHOUSE_GATEWAY__TX_ENGINE__SIGNERS__";
    const Outcome outcome{all_but_signers,
                          {{start + "0__TYPE", "private_key"},
                           {start + "0__PRIVATE_KEY", first_digits},
                           {start + "1__TYPE", "private_key"},
                           {start + "1__PRIVATE_KEY", second_digits}}};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().evm.keys().size() == 2);
}

TEST_CASE("together with signer it is a mistake, wherever that one comes from") {
    const std::string problem =
        ": is set, and gateway.tx_engine.signers too; allowed: one of the two";
    const std::string both = entry_with(first_digits) +
                             "[gateway.tx_engine.signer]\ntype = \"private_key\"\nprivate_key = "
                             "\"" +
                             second_digits + "\"\n";
    for (const std::string& base : {std::string{}, all_but_signers}) {
        const Outcome outcome{base + both};
        const auto lines = std::ranges::count(base, '\n');
        CHECK(outcome.errors() ==
              std::vector<std::string>{"FILE:" + std::to_string(lines + 6) +
                                       ": gateway.tx_engine.signer.private_key" + problem});
    }
    const Outcome empty{all_but_signers + entry_with(first_digits) +
                        "[gateway.tx_engine.signer]\n"};
    CHECK(is_said(empty, "FILE:15: gateway.tx_engine.signer" + problem));
    const std::string variable = "POSTHOUSE_GATEWAY__TX_ENGINE__SIGNER__PRIVATE_KEY";
    const Outcome by_variable{all_but_signers + entry_with(first_digits),
                              {{variable, second_digits}}};
    CHECK(by_variable.errors() ==
          std::vector<std::string>{variable + ": gateway.tx_engine.signer.private_key" + problem});
    for (const auto& outcome : {both, entry_with(second_digits)}) {
        CHECK(Outcome{outcome}.text().find(second_digits) == std::string::npos);
    }
}

TEST_CASE("what can not be right in a list of keys is named with its line") {
    const std::string list = "gateway.tx_engine.signers";
    struct Row {
        const char* label;
        std::string text;
        std::string error;
    };
    const std::string too =
        " is that of gateway.tx_engine.signers[0] too; allowed: a key of its "
        "own for each";
    const std::string remote = "type = \"remote\"\nurl = \"http://h\"\naddress = ";
    for (const Row& row : {
             Row{"none", list + " = []\n",
                 "FILE:1: " + list +
                     ": has 0 entries; allowed: 1 to 32 "
                     "entries, each a table"},
             Row{"a table", "[" + list + "]\ntype = \"remote\"\n",
                 "FILE:1: " + list +
                     ": the indexes must count 0, 1, 2 …; allowed: 1 to 32 "
                     "entries, each a table"},
             Row{"an unknown key", entry_with(first_digits) + "adress = 1\n",
                 "FILE:4: " + list + "[0].adress: is no known key, did you mean " + list +
                     "[].address?"},
             Row{"no type", entry("region = \"eu\"\n"),
                 "FILE:1: " + list +
                     "[0].type: is missing; allowed: private_key, aws_kms or "
                     "remote"},
             Row{"no key in the second",
                 entry_with(first_digits) + entry("type = \"private_key\"\n"),
                 "FILE:4: " + list +
                     "[1].private_key: is missing; allowed: 64 hexadecimal digits, "
                     "or the file that holds them in private_key_file"},
             Row{"KMS without its address",
                 entry("type = \"aws_kms\"\nkey_id = \"k\"\nregion = \"eu\"\n"),
                 "FILE:1: " + list +
                     "[0].address: is missing; allowed: the account of the key, as "
                     "posthouse doctor says it with this key alone in "
                     "gateway.tx_engine.signer"},
             Row{"the same key", entry_with(first_digits) + entry_with("0x" + first_digits),
                 "FILE:6: " + list + "[1].private_key:" + too},
             Row{"the same file",
                 entry("type = \"private_key\"\nprivate_key_file = \"/k\"\n") +
                     entry("type = \"private_key\"\nprivate_key_file = \"/k\"\n"),
                 "FILE:6: " + list + "[1].private_key_file:" + too},
             Row{"the same account",
                 entry(remote + address_a + "\n") +
                     entry(remote + "\"0x26D798AA41C6AF4EFD0B548B0FA9668EA1575"
                                    "865\"\n"),
                 "FILE:8: " + list + "[1].address:" + too},
             Row{"the same key of KMS",
                 entry("type = \"aws_kms\"\nkey_id = \"k\"\nregion = \"eu\"\naddress = " +
                       address_a + "\n") +
                     entry("type = \"aws_kms\"\nkey_id = \"k\"\nregion = \"eu\"\naddress = " +
                           address_b + "\n"),
                 "FILE:8: " + list + "[1].key_id:" + too},
         }) {
        CAPTURE(row.label);
        const Outcome outcome{row.text};
        CAPTURE(outcome.text());
        CHECK(is_said(outcome, row.error));
        CHECK(outcome.text().find(first_digits) == std::string::npos);
    }
    const Outcome zero{all_but_signers + entry(remote + "\"0x" + std::string(40, '0') + "\"\n")};
    CHECK(zero.text().find(list + "[0].address: is the zero address") != std::string::npos);
}

TEST_CASE("a key of a list in a file that others may read is refused") {
    using std::filesystem::perms;
    const Outcome outcome{all_but_signers + entry_with(first_digits) + entry_with(second_digits),
                          {},
                          {},
                          perms{0644}};
    REQUIRE(outcome.errors().size() == 2);
    CHECK(
        outcome.errors()[1].starts_with("FILE:17: gateway.tx_engine.signers[1].private_key: lies "
                                        "in a file that is open to other users"));
}

TEST_CASE("a token that goes over the wire in the clear is said of the key it is for") {
    const Outcome outcome{all_but_signers + entry_with(first_digits) +
                          entry("type = \"remote\"\nurl = \"http://h\"\ntoken_file = \"/t\"\n"
                                "address = " +
                                address_b + "\n")};
    REQUIRE(outcome.accepted());
    CHECK(
        outcome.text().find("signer_token_in_the_clear hint=\"gateway.tx_engine.signers[1].url") !=
        std::string::npos);
}
