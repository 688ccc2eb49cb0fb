#include "api/access/client_keys.hpp"

#include <string>
#include <string_view>
#include <variant>

#include <doctest/doctest.h>

#include "domain/bytes.hpp"

namespace {

using api::access::Allowance;
using api::access::ClientKey;
using api::access::ClientKeys;

const std::string key_a = "aaaaaaaaaaaaaaaa";
const std::string key_b = "bbbbbbbbbbbbbbbb";

ClientKeys keys_of(const std::string& text) {
    auto read = ClientKeys::read(text, "keys");
    if (const auto* problem = std::get_if<std::string>(&read)) FAIL(*problem);
    return std::get<ClientKeys>(std::move(read));
}

std::string problem_with(const std::string& text) {
    const auto read = ClientKeys::read(text, "/etc/keys");
    const auto* problem = std::get_if<std::string>(&read);
    return problem == nullptr ? "" : *problem;
}

Allowance allowance_of(const std::string& line) {
    const ClientKeys keys = keys_of(line);
    REQUIRE(keys.size() == 1);
    REQUIRE(keys.all().front().limiter);
    return keys.all().front().limiter->allowance();
}

TEST_CASE("each line names a client, its key, and how often it may post") {
    const ClientKeys keys = keys_of(
        "# who may come in\r\n"
        "\n"
        "   \t \n"
        "web " +
        key_a +
        "\n"
        "\tBatch_job-2.0\t " +
        key_b +
        "   2.5\t10  \r\n"
        "# the last one\n"
        "last #starts-with-hash 0.01");
    REQUIRE(keys.size() == 3);

    const ClientKey* web = keys.find(key_a);
    REQUIRE(web != nullptr);
    CHECK(web->client.name == "web");
    CHECK(web->limiter == nullptr);

    const ClientKey* batch = keys.find(key_b);
    REQUIRE(batch != nullptr);
    CHECK(batch->client.name == "Batch_job-2.0");
    CHECK(batch->limiter->allowance() == Allowance{2'500'000, 10});

    const ClientKey* last = keys.find("#starts-with-hash");
    REQUIRE(last != nullptr);
    CHECK(last->limiter->allowance() == Allowance{10'000, 1});

    for (const char* wrong : {"", "aaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaa", "AAAAAAAAAAAAAAAA", "web",
                              "aaaaaaaaaaaaaaaa ", "bbbbbbbbbbbbbbba"}) {
        CAPTURE(wrong);
        CHECK(keys.find(wrong) == nullptr);
    }
}

TEST_CASE("a client's id is the start of the digest of its name") {
    const api::access::Client client = api::access::client_named("web");
    CHECK(client.name == "web");
    // printf web | sha256sum
    CHECK(client.id == 0x4b5e57f6eb2f42b9U);
    CHECK(client.id != api::access::client_named("Web").id);
}

TEST_CASE("rates are exact, and a burst is at least a second's worth") {
    struct Row {
        const char* fields;
        Allowance expected;
    };
    const Row rows[] = {
        {"0.01", {10'000, 1}},
        {"0.010000", {10'000, 1}},
        {"0.5", {500'000, 1}},
        {"1", {1'000'000, 1}},
        {"1.000001", {1'000'001, 2}},
        {"2.5", {2'500'000, 3}},
        {"0010", {10'000'000, 10}},
        {"0.333333", {333'333, 1}},
        {"10000", {10'000'000'000, 10'000}},
        {"0.01 100000", {10'000, 100'000}},
        {"100 1", {100'000'000, 1}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.fields);
        CHECK(allowance_of("web " + key_a + " " + row.fields) == row.expected);
    }
}

TEST_CASE("a bad line is named by its number, with what would be right") {
    const std::string name = "/etc/keys:2: the name can not be used; allowed: NAME KEY [RATE";
    const std::string key = "/etc/keys:2: the key can not be used; allowed: 16 to 512 printable";
    const std::string rate =
        "/etc/keys:2: what follows the key is no rate; allowed: 0.01 to 10000 requests per second";
    const std::string burst =
        "/etc/keys:2: what follows the rate is no burst; allowed: 1 to 100000 requests";
    const std::string after_burst =
        "/etc/keys:2: there is something after BURST; allowed: NAME KEY [RATE [BURST]], comments";
    struct Row {
        std::string line;
        std::string problem;
    };
    const Row rows[] = {
        {"we/b " + key_b, name},
        {"- " + key_b, name},
        {std::string(65, 'n') + " " + key_b, name},
        {"caf\xc3\xa9 " + key_b, name},
        {"web", "/etc/keys:2: the key is missing; allowed: 16 to 512"},
        {"web bbbbbbbbbbbbbbb", key},
        {"web " + std::string(513, 'b'), key},
        {"web bbbbbbbbbbbbbbb\x7f", key},
        {"web bbbbbbbbbbbbbb\xc3\xa9", key},
        {"web bbbbbbbbbbbbbbb" + std::string(1, '\0'), key},
        {"web bbbbbbbb\rbbbbbbbb", key},
        {"web " + key_b + " 0", rate},
        {"web " + key_b + " 0.009999", rate},
        {"web " + key_b + " 10000.000001", rate},
        {"web " + key_b + " 99999999999999999999", rate},
        {"web " + key_b + " -1", rate},
        {"web " + key_b + " +1", rate},
        {"web " + key_b + " 1e3", rate},
        {"web " + key_b + " 1,5", rate},
        {"web " + key_b + " 1.", rate},
        {"web " + key_b + " .5", rate},
        {"web " + key_b + " 1.0000000", rate},
        {"web " + key_b + " 1.5.0", rate},
        {"web " + key_b + " #comment", rate},
        {"web " + key_b + " 1 0", burst},
        {"web " + key_b + " 1 100001", burst},
        {"web " + key_b + " 1 1.5", burst},
        {"web " + key_b + " 1 4294967297", burst},
        {"web " + key_b + " 1 1 1", after_burst},
        {"web " + key_b + " # a comment", after_burst},
        {"first " + key_b, "/etc/keys:2: the name is that of line 1; allowed: each name once"},
        {"web " + key_a, "/etc/keys:2: the key is that of line 1; allowed: each key once"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.line);
        const std::string problem = problem_with("first " + key_a + "\n" + row.line + "\n");
        CHECK(problem.starts_with(row.problem));
        CHECK(problem.find("bbbbbbbb") == std::string::npos);
        CHECK(problem.find("aaaaaaaa") == std::string::npos);
    }
    for (const char* nothing : {"", "\n\n", "# nobody\n", "  "}) {
        CHECK(problem_with(nothing).starts_with("/etc/keys: holds no key, nobody could come in"));
    }
}

TEST_CASE("the longest and the shortest are good, and no file has too many") {
    CHECK(keys_of(std::string(64, 'n') + " " + std::string(512, 'k')).size() == 1);
    CHECK(keys_of("n !\"#$%&'()*+,-./:").find("!\"#$%&'()*+,-./:") != nullptr);

    std::string text;
    for (std::size_t i = 0; i < ClientKeys::keys_max; ++i) {
        const std::string number = std::to_string(i);
        text += "n" + number + " " + key_a + number + "\n";
    }
    CHECK(keys_of(text).find(key_a + "4095")->client.name == "n4095");
    CHECK(problem_with(text + "one-more " + key_b) ==
          "/etc/keys:4097: too many keys; allowed: 4096 in a file");
}

TEST_CASE("who stays with the same allowance keeps what it has used up") {
    const ClientKeys old = keys_of("same " + key_a + " 1 2\nfaster bbbbbbbbbbbbbbbb 1\n" +
                                   "unlimited cccccccccccccccc\ngone dddddddddddddddd 1\n");
    ClientKeys next = keys_of("unlimited cccccccccccccccc 1\nfaster bbbbbbbbbbbbbbbb 2\n" +
                              std::string("same eeeeeeeeeeeeeeee 1 2\nnew ffffffffffffffff 1\n"));
    const auto fresh = next.find("bbbbbbbbbbbbbbbb")->limiter;
    next.take_over_limiters(old);
    CHECK(next.find("eeeeeeeeeeeeeeee")->limiter == old.find(key_a)->limiter);
    CHECK(next.find("bbbbbbbbbbbbbbbb")->limiter == fresh);
    CHECK(next.find("cccccccccccccccc")->limiter != nullptr);
    CHECK(next.find("ffffffffffffffff")->limiter != nullptr);
}

}  // namespace
