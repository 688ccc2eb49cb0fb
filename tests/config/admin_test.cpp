#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/secret_values.hpp"
#include "harness.hpp"

using config_test::Outcome;

namespace {

constexpr std::string_view token = "correct-horse-battery";
const std::string allowed = "; allowed: 16 to 4096 visible ASCII characters; empty: none";

std::filesystem::path file_with(const support::TempDirectory& directory, std::string_view content,
                                mode_t mode = 0600) {
    const std::filesystem::path path = directory.path() / "token";
    std::ofstream{path} << content;
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return path;
}

std::string problem_of(const std::string& place) {
    try {
        static_cast<void>(config::read_token_file(place, {}));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("the keys of the admin interface arrive") {
    const Outcome outcome{R"([http]
enable_admin_endpoint = true
admin_endpoint = "[::1]:4000"
admin_token = "correct-horse-battery"
)"};
    CAPTURE(outcome.text());
    REQUIRE(outcome.accepted());
    CHECK(outcome.text().empty());
    CHECK(outcome.settings().api.admin_enabled);
    CHECK(outcome.settings().admin.host == "::1");
    CHECK(outcome.settings().admin.port == 4000);
    CHECK(outcome.settings().admin.token == token);

    const config::Settings defaults = Outcome{""}.settings();
    CHECK_FALSE(defaults.api.admin_enabled);
    CHECK(defaults.admin.host == "127.0.0.1");
    CHECK(defaults.admin.port == 3001);
    CHECK(defaults.admin.token.empty());

    const Outcome by_variable{"http.enable_admin_endpoint = true",
                              {{"POSTHOUSE_HTTP__ADMIN_TOKEN", std::string{token}}}};
    REQUIRE(by_variable.accepted());
    CHECK(by_variable.settings().admin.token == token);
}

TEST_CASE("what does not fit together is named with its fix, and no token is shown") {
    struct Row {
        std::string_view label;
        std::string_view file;
        std::vector<std::string> errors;
    };
    const std::vector<Row> rows{
        {"no token",
         "http.enable_admin_endpoint = true",
         {"FILE:1: http.enable_admin_endpoint: needs a token, and none is set; allowed: true "
          "together with http.admin_token or http.admin_token_file"}},
        {"empty token",
         "http.enable_admin_endpoint = true\nhttp.admin_token = \"\"",
         {"FILE:1: http.enable_admin_endpoint: needs a token, and none is set; allowed: true "
          "together with http.admin_token or http.admin_token_file"}},
        {"short token",
         "http.admin_token = \"S3cr3t-15-chars\"",
         {"FILE:1: http.admin_token: is shorter than 16 characters" + allowed}},
        {"token with a space",
         "http.admin_token = \"S3cr3t and more of it\"",
         {"FILE:1: http.admin_token: holds characters that are not visible ASCII" + allowed}},
        {"token with an umlaut",
         "http.admin_token = \"S3cr3t-und-größer\"",
         {"FILE:1: http.admin_token: holds characters that are not visible ASCII" + allowed}},
        {"token of a wrong kind",
         "http.admin_token = 1234567890123456",
         {"FILE:1: http.admin_token: must be text, is a whole number" + allowed}},
        {"two tokens",
         "http.admin_token = \"S3cr3t-16-chars!\"\nhttp.admin_token_file = \"/x\"",
         {"FILE:2: http.admin_token_file: http.admin_token is set too; allowed: one of the two"}},
        {"same address",
         "http.enable_admin_endpoint = true\nhttp.admin_token = \"S3cr3t-16-chars!\"\n"
         "http.admin_endpoint = \"127.0.0.1:3000\"",
         {"FILE:3: http.admin_endpoint: http.admin_endpoint and http.endpoint are the same; "
          "allowed: an address for each"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Outcome outcome{row.file};
        CHECK(outcome.errors() == row.errors);
        CHECK(outcome.text().find("S3cr3t") == std::string::npos);
    }
}

TEST_CASE("two listeners need two addresses") {
    struct Row {
        std::string requests;
        std::string other;
        bool collides;
    };
    const std::vector<Row> rows{
        {"127.0.0.1:4000", "127.0.0.1:4000", true},  {"localhost:4000", "127.0.0.1:4000", true},
        {"127.0.0.1:4000", "localhost:4000", true},  {"0.0.0.0:4000", "10.0.0.1:4000", true},
        {"localhost:4000", "0.0.0.0:4000", true},    {"[::]:4000", "127.0.0.1:4000", true},
        {"[::1]:4000", "[::]:4000", true},           {"[::1]:4000", "127.0.0.1:4000", false},
        {"0.0.0.0:4000", "[::1]:4000", false},       {"127.0.0.1:4000", "127.0.0.2:4000", false},
        {"127.0.0.1:4000", "127.0.0.1:4001", false}, {"127.0.0.1:0", "127.0.0.1:0", false},
    };
    const std::string admin =
        "http.enable_admin_endpoint = true\nhttp.admin_token = \"" + std::string{token} + "\"\n";
    const auto errors = [&](const std::string& one, const std::string& address,
                            const std::string& other, const std::string& other_address) {
        return Outcome{admin + other + " = \"" + other_address + "\"\n" + one + " = \"" + address +
                       "\""}
            .errors();
    };
    for (const Row& row : rows) {
        CAPTURE(row.requests);
        CAPTURE(row.other);
        for (const auto& [one, other] : {std::pair{"http.admin_endpoint", "http.endpoint"},
                                         std::pair{"metrics.endpoint", "http.endpoint"},
                                         std::pair{"metrics.endpoint", "http.admin_endpoint"}}) {
            CAPTURE(one);
            const auto found = errors(one, row.other, other, row.requests);
            REQUIRE(found.size() == (row.collides ? 1 : 0));
            if (row.collides) {
                CHECK(found[0].starts_with("FILE:4: " + std::string{one} + ": " + one + " and " +
                                           other + " are the same"));
            }
        }
    }
    // Who is switched off listens nowhere.
    CHECK(Outcome{"http.admin_endpoint = \"127.0.0.1:3000\""}.accepted());
    CHECK(Outcome{"metrics.endpoint = \"\""}.accepted());
}

TEST_CASE("tokens in a file that other users may open are warned of") {
    const std::string text =
        "http.admin_token = \"S3cr3t-of-many-bytes\"\n"
        "helper.api_token = \"S3cr3t-too\"\n";
    using std::filesystem::perms;
    for (const perms mode : {perms{0644}, perms{0604}}) {
        const Outcome open{text, {}, {}, mode};
        REQUIRE(open.accepted());
        REQUIRE(open.loaded().warnings.size() == 1);
        CHECK(open.loaded().warnings[0].starts_with(
            "secrets_in_open_file keys=\"helper.api_token, http.admin_token\" hint="));
        CHECK(open.text().find("S3cr3t") == std::string::npos);
    }
    CHECK(Outcome{text, {}, {}, perms{0640}}.text().empty());
    const config::Environment environment{{"POSTHOUSE_HELPER__API_TOKEN", "S3cr3t-too"}};
    CHECK(Outcome{"", environment, {}, perms{0644}}.text().empty());
}

TEST_CASE("an admin endpoint others can reach is warned of") {
    struct Row {
        std::string_view endpoint;
        bool warned;
    };
    const std::vector<Row> rows{
        {"127.0.0.1:3001", false}, {"127.1.2.3:3001", false}, {"[::1]:3001", false},
        {"localhost:0", false},    {"0.0.0.0:3001", true},    {"[::]:3001", true},
        {"10.0.0.1:3001", true},   {"posthouse:3001", true},
    };
    for (const Row& row : rows) {
        CAPTURE(row.endpoint);
        const std::string endpoint =
            "http.admin_endpoint = \"" + std::string{row.endpoint} + "\"\n";
        const Outcome enabled{endpoint +
                              "http.enable_admin_endpoint = true\n"
                              "http.admin_token = \"correct-horse-battery\""};
        REQUIRE(enabled.accepted());
        CHECK(enabled.loaded().warnings.size() == (row.warned ? 1 : 0));
        CHECK(enabled.text().starts_with("admin_endpoint_open ") == row.warned);
        CHECK(enabled.text().find(token) == std::string::npos);
        CHECK(Outcome{endpoint}.text().empty());
    }
}

TEST_CASE("a token is read from a file without the white space at its end") {
    const support::TempDirectory directory;
    for (const std::string_view end : {"", "\n", "\r\n", " \n\n"}) {
        for (const mode_t mode : {0600U, 0400U, 0440U, 0640U}) {
            CAPTURE(mode);
            const auto path = file_with(directory, std::string{token}.append(end), mode);
            CHECK(config::read_token_file(path.string(), {}) == token);
        }
    }
    const auto longest = file_with(directory, std::string(4'096, 'x') + "\n");
    CHECK(config::read_token_file(longest.string(), {}).size() == 4'096);
}

TEST_CASE("a token file that can not serve is named, its content is not") {
    const support::TempDirectory directory;
    struct Row {
        std::string_view content;
        mode_t mode;
        std::string_view problem;
    };
    const std::vector<Row> rows{
        {"S3cr3t-of-many-bytes", 0604, "run chmod o= "},
        {"S3cr3t-of-many-bytes", 0602, "run chmod o= "},
        {"S3cr3t", 0600, "the token in it is shorter than 16 characters"},
        {"", 0600, "the token in it is shorter than 16 characters"},
        {"S3cr3t-of-many-bytes\nand another", 0600,
         "the token in it holds characters that are not visible ASCII"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.problem);
        const std::string path = file_with(directory, row.content, row.mode).string();
        const std::string problem = problem_of(path);
        CHECK(problem.starts_with("http.admin_token_file: " + path));
        CHECK(problem.find(row.problem) != std::string::npos);
        CHECK(problem.find("S3cr3t") == std::string::npos);
    }
    const std::string large = file_with(directory, std::string(5'000, 'x')).string();
    CHECK(problem_of(large).ends_with("the token in it is longer than 4096 characters"));
    const std::string nowhere = (directory.path() / "nowhere").string();
    CHECK(problem_of(nowhere).find("is not there") != std::string::npos);
}

TEST_CASE("a credential of systemd is found by its name") {
    const support::TempDirectory directory;
    file_with(directory, token);
    CHECK(problem_of("credential:token").find("LoadCredential=token:") != std::string::npos);
    CHECK(config::read_token_file("credential:token", directory.path().string()) == token);
}
