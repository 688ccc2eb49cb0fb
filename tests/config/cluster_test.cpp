#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "config/cross_checks.hpp"
#include "harness.hpp"

using config_test::Outcome;

namespace {

// A real chain, which a cluster needs; what follows stands in the table it ends with.
const std::string node_file = R"(gateway.type = "evm"
gateway.blockchain_rpc.http_url = "http://gateway"
gateway.blockchain_rpc.chain_id = 654321
gateway.contracts.decryption_address = "0x26d798AA41C6Af4EFd0b548b0Fa9668EA1575865"
gateway.contracts.input_verification_address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"
gateway.contracts.user_decrypt_shares_threshold = 9
gateway.tx_engine.signer.type = "private_key"
gateway.tx_engine.signer.private_key_file = "/etc/signer"
protocol_config.ethereum_http_rpc_url = "http://ethereum"
protocol_config.address = "0x00000000000000000000000000000000000000a1"
keyurl.kms_generation_address = "0x00000000000000000000000000000000000000A2"
gateway.listener_pool.listeners = [{type = "polling", url = "http://one"}, {type = "polling", url = "http://two"}]
host_chains = [{chain_id = 8009, url = "http://host", acl_address = "0x00000000000000000000000000000000000000a3"}]
helper.disable = true
[cluster]
)";
const std::string node_keys =
    "database = \"host=db-a,db-b user=posthouse password=hush-hush\"\n"
    "url = \"https://a.internal:3000\"\n"
    "key_file = \"/etc/posthouse/cluster.key\"\n"
    "node = \"a\"\n";

std::vector<std::string> cluster_errors(const std::string& lines) {
    return Outcome{node_file + lines}.errors();
}

// What is wrong with one more line behind those that are node_keys, without its place.
std::string cluster_problem(const std::string& line) {
    const std::string key = line.substr(0, line.find(' '));
    std::string file = node_keys;
    const std::size_t begin = file.find(key + " = ");
    if (begin != std::string::npos) file.erase(begin, file.find('\n', begin) + 1 - begin);
    const auto errors = cluster_errors(file + line);
    if (errors.empty()) return "none";
    CHECK(errors.size() == 1);
    const std::size_t place = errors.front().find(": ");
    return errors.front().substr(place + 2);
}

}  // namespace

TEST_CASE("without the table there is no cluster, and with it everything arrives") {
    CHECK_FALSE(Outcome{""}.settings().cluster);

    const Outcome least{node_file + node_keys};
    CAPTURE(least.text());
    REQUIRE(least.accepted());
    CHECK(least.loaded().warnings.empty());
    REQUIRE(least.settings().cluster);
    const cluster::Options& defaults = *least.settings().cluster;
    CHECK(defaults.database == "host=db-a,db-b user=posthouse password=hush-hush");
    CHECK(defaults.book == "main");
    CHECK(defaults.url == "https://a.internal:3000");
    CHECK(defaults.key_file == "/etc/posthouse/cluster.key");
    CHECK(defaults.other_key_file.empty());
    CHECK(defaults.lease.length == std::chrono::seconds{3});
    CHECK(defaults.durability == cluster::Durability::standby);
    CHECK(defaults.snapshot_every_bytes == 268'435'456U);
    CHECK_FALSE(defaults.keys);

    const Outcome all{node_file + node_keys +
                      "name = \"second_book-2\"\nother_key_file = \"credential:old\"\n"
                      "ca_file = \"/etc/ca.pem\"\nlease = \"1500ms\"\ndurability = \"storage\"\n"
                      "snapshot_every = 7"};
    CAPTURE(all.text());
    REQUIRE(all.accepted());
    const cluster::Options& options = all.settings().cluster.value();
    CHECK(options.book == "second_book-2");
    CHECK(options.node == "a");
    CHECK(options.other_key_file == "credential:old");
    CHECK(options.ca_file == "/etc/ca.pem");
    CHECK(options.lease.length == std::chrono::milliseconds{1'500});
    CHECK(options.durability == cluster::Durability::storage);
    CHECK(options.snapshot_every_bytes == 7'340'032U);
}

TEST_CASE("a node without a name has that of its host") {
    std::array<char, 256> name{};
    REQUIRE(::gethostname(name.data(), name.size() - 1) == 0);
    std::string unnamed = node_keys;
    unnamed.erase(unnamed.find("node = "));
    const Outcome outcome{node_file + unnamed};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().cluster.value().node == name.data());
}

TEST_CASE("the environment may say where the database is, and may make the table") {
    const Outcome outcome{node_file + "url = \"https://a\"\nkey_file = \"/k\"",
                          {{"POSTHOUSE_CLUSTER__DATABASE", "postgresql://u:pw@db-a,db-b/x"}}};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.settings().cluster.value().database == "postgresql://u:pw@db-a,db-b/x");

    const Outcome alone{"", {{"POSTHOUSE_CLUSTER__NAME", "main"}}};
    CHECK_FALSE(alone.accepted());
}

TEST_CASE("what a node can not do without is asked for by its name") {
    const std::vector<std::string> expected{
        "FILE:15: cluster.database: is missing in the table [cluster]; allowed: a connection "
        "string of libpq, at most 4096 bytes",
        "FILE:15: cluster.url: is missing in the table [cluster]; allowed: http://HOST:PORT or "
        "https://HOST:PORT",
        "FILE:15: cluster.key_file: is missing in the table [cluster]; allowed: a path or "
        "credential:NAME, at most 4096 bytes"};
    CHECK(cluster_errors("") == expected);
    CHECK(cluster_errors("node = \"a\"") == expected);
    CHECK(cluster_problem("database = \"\"") ==
          "cluster.database: must not be empty; allowed: a connection string of libpq, at most "
          "4096 bytes");
    CHECK(cluster_problem("key_file = \"\"") ==
          "cluster.key_file: must not be empty; allowed: a path or credential:NAME, at most 4096 "
          "bytes");
}

TEST_CASE("values that can not be are refused, and none that may be secret is shown") {
    CHECK(cluster_problem("name = \"Main\"") ==
          "cluster.name: \"Main\" holds other characters; allowed: 1 to 63 lower case letters, "
          "digits, - and _");
    CHECK(cluster_problem("name = \"" + std::string(63, 'x') + "\"") == "none");
    CHECK(cluster_problem("name = \"" + std::string(64, 'x') + "\"").find("longer than 63") !=
          std::string::npos);
    CHECK(cluster_problem("node = \"a b\"") ==
          "cluster.node: \"a b\" holds other characters; allowed: 1 to 63 letters, digits, ., - "
          "and _");
    CHECK(cluster_problem("node = \"A.b_c-9\"") == "none");
    CHECK(cluster_problem("lease = \"999ms\"") ==
          "cluster.lease: \"999ms\" is out of range; allowed: 1s to 1m");
    CHECK(cluster_problem("lease = \"61s\"").starts_with("cluster.lease: \"61s\" is out of range"));
    CHECK(cluster_problem("durability = \"none\"") ==
          "cluster.durability: \"none\" is not among the choices; allowed: standby or storage");
    CHECK(cluster_problem("snapshot_every = 0") ==
          "cluster.snapshot_every: 0 is out of range; allowed: 1 to 1048576");

    const std::string allowed = "; allowed: http://HOST:PORT or https://HOST:PORT";
    const std::string behind = "cluster.url: has something behind the host and the port, be it a /";
    CHECK(cluster_problem("url = \"https://a:1/\"") == behind + allowed);
    CHECK(cluster_problem("url = \"https://a:1?q\"") == behind + allowed);
    CHECK(cluster_problem("url = \"ftp://a\"") ==
          "cluster.url: is no URL of an allowed kind" + allowed);
    CHECK(cluster_problem("url = \"https://me:hush-hush@a:1\"") ==
          "cluster.url: has a user in it; nodes know each other by key_file" + allowed);

    for (const std::string database : {"host=a password='hush-hush", "hush-hush"}) {
        CAPTURE(database);
        CHECK(cluster_problem("database = \"" + database + "\"") ==
              "cluster.database: is no connection string of libpq; allowed: such as "
              "host=db-a,db-b dbname=posthouse user=posthouse, or a postgresql:// URI");
    }
    for (const std::string database :
         {"postgresql://u:hush@hush@db/x", "postgres://u:hush/hush@db/x",
          "postgresql://u:12/hush@db/x", "postgresql://u@hush:hush@db/x",
          "postgresql://u:p@a,hush@b/x", "host=a port=hush"}) {
        CAPTURE(database);
        CHECK(cluster_problem("database = \"" + database + "\"") ==
              "cluster.database: has a host, a port or a database name that can not be; in a URI "
              "an @ in the user or the password is written %40, and a / is written %2F; allowed: "
              "such as host=db-a,db-b dbname=posthouse user=posthouse, or a postgresql:// URI");
    }
    for (const std::string database :
         {"postgresql://u%40x:p%40ss%2Fword@db-a:5432,db-b/x", "postgresql://db-a:1,db-b/x",
          "host=@socket,b port=1, dbname=a@b password=p@ss/word", "postgresql:///x?host=/run/a",
          "postgresql://u:p@db/my%40db"}) {
        CAPTURE(database);
        CHECK(cluster_problem("database = \"" + database + "\"") == "none");
    }
    CHECK(cluster_errors("database = 5\nurl = \"http://a\"\nkey_file = \"k\"\nnode = \"a\"") ==
          std::vector<std::string>{"FILE:16: cluster.database: must be text, is a whole number; "
                                   "allowed: a connection string of libpq, at most 4096 bytes"});
    CHECK(Outcome{"cluster = 5"}.errors() ==
          std::vector<std::string>{
              "FILE:1: cluster: must be a table, is a whole number; allowed: [cluster] and keys "
              "below it"});
}

TEST_CASE("the embedded chain is refused in a cluster, and why is said") {
    const std::string why =
        "gateway.type: loopback is not for a cluster: the ledger of the embedded chain, also of "
        "its vote shares, is on one machine, and no other node could go on with it; allowed: evm "
        "beside [cluster]";
    CHECK(Outcome{"[cluster]\n" + node_keys}.errors() ==
          std::vector<std::string>{"FILE:1: " + why});
    CHECK(Outcome{"[gateway]\ntype = \"loopback\"\n[cluster]\n" + node_keys}.errors() ==
          std::vector<std::string>{"FILE:2: " + why});
}

TEST_CASE("a request fits into an entry of the journal") {
    const Outcome unset{node_file + node_keys};
    CHECK(unset.settings().api.relayer_body_bytes_max == 1'966'080);
    CHECK(unset.settings().http.body_bytes_max == 1'966'080);
    CHECK(unset.text().find("setting_adjusted key=http.body_bytes_max value=1966080") !=
          std::string::npos);

    const std::string set = "http.body_bytes_max = ";
    const Outcome most{set + "1966080\n" + node_file + node_keys};
    CAPTURE(most.text());
    REQUIRE(most.accepted());
    CHECK(most.text().find("setting_adjusted") == std::string::npos);
    CHECK(Outcome{set + "1966081\n" + node_file + node_keys}.errors() ==
          std::vector<std::string>{
              "FILE:1: http.body_bytes_max: 1966081 is too much for a cluster: a request must fit "
              "into one entry of the journal; allowed: at most 1966080 beside [cluster]"});
    CHECK(Outcome{set + "2097152"}.settings().api.relayer_body_bytes_max == 2'097'152);
}

TEST_CASE("what nodes say to each other in the clear is warned of") {
    const auto warnings = [](const std::string& url) {
        std::string file = node_keys;
        const std::string before = "https://a.internal:3000";
        file.replace(file.find(before), before.size(), url);
        return Outcome{node_file + file}.loaded().warnings;
    };
    REQUIRE(warnings("http://a.internal:3000").size() == 1);
    CHECK(warnings("http://a.internal:3000").front().starts_with("cluster_link_in_clear hint="));
    CHECK(warnings("http://127.0.0.2:3000").empty());
    CHECK(warnings("http://[::1]:3000").empty());
}
