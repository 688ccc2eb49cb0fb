// Who may come in, through the whole application.

#include "api/access/authenticator.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"
#include "support/temp_directory.hpp"

namespace {

using api_test::Answer;
using api_test::Call;
using api_test::Harness;
using api_test::Json;
using api_test::proof_path;
using api_test::share_path;
using Headers = std::vector<std::pair<std::string, std::string>>;

using namespace std::chrono_literals;

const std::string job_place = "/0197a7f0-0000-7000-8000-000000000001";

const std::string web_key = "web-0123456789abcdef";
const std::string slow_key = "slow-0123456789abcdef";
const std::string wrong_key = "wrong-0123456789abcdef";

class KeysFile {
public:
    explicit KeysFile(const std::string& text) { write(text); }

    void write(const std::string& text) const {
        std::ofstream(path()) << text;
        REQUIRE(::chmod(path().c_str(), 0600) == 0);
    }
    [[nodiscard]] std::string path() const { return (directory_.path() / "keys").string(); }

private:
    support::TempDirectory directory_;
};

const std::string two_keys = "web " + web_key + "\nslow " + slow_key + " 0.5 2\n";

api::Options with_clients(const KeysFile& file) {
    api::Options options;
    options.access.client_keys_file = file.path();
    return options;
}

api::Options with_tokens(const KeysFile& file) {
    api::Options options;
    options.access.share_tokens_file = file.path();
    return options;
}

Answer post_proof(Harness& harness, Headers headers) {
    headers.emplace_back("Content-Type", "application/json");
    return harness.send(
        {"POST", proof_path, api_test::sample("input-proof-1-value.json"), std::move(headers)});
}

Answer post_share(Harness& harness, Headers headers) {
    return harness.send(
        {"POST", share_path, api_test::sample("vote-share.json"), std::move(headers)});
}

Answer poll(Harness& harness, Headers headers) {
    return harness.send({"GET", proof_path + job_place, {}, std::move(headers)});
}

api::access::KeyStore& ring_of(Harness& harness) {
    return harness.authenticator.reloadable().front();
}

TEST_CASE("without keys everybody comes in, whatever the headers say") {
    Harness harness;
    CHECK(post_proof(harness, {}).status == 202);
    CHECK(post_proof(harness, {{"x-api-key", "anything"}, {"Authorization", "Bearer other"}})
              .status == 202);
    CHECK(post_share(harness, {{"X-Helper-Token", "anything"}}).status == 200);
    CHECK(harness.authenticator.reloadable().empty());
    const auto pass = harness.authenticator.admit(
        api_test::head_of({"POST", proof_path, {}, {{"x-api-key", "anything"}}}));
    REQUIRE(pass);
    CHECK(pass->client_id() == 0);
}

TEST_CASE("a key may come in each of the forms the client library knows") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Headers forms[] = {
        {{"x-api-key", web_key}},
        {{"X-API-Key", web_key}},
        {{"Authorization", "Bearer " + web_key}},
        {{"authorization", "bearer   " + web_key}},
        {{"Cookie", "x-api-key=" + web_key}},
        {{"cookie", "x-api-key=" + web_key + ";"}},
        {{"cookie", "theme=dark; x-api-key=" + web_key + " ; lang=en"}},
        {{"cookie", "theme=dark"}, {"cookie", "x-api-key=" + web_key}},
        {{"x-api-key", web_key}, {"authorization", "Bearer " + web_key}},
        {{"x-api-key", web_key}, {"x-api-key", web_key}, {"cookie", "x-api-key=" + web_key}},
        {{"x-api-key", web_key}, {"authorization", "Basic dXNlcjpwYXNz"}},
    };
    for (const Headers& headers : forms) {
        CAPTURE(headers.front().second);
        CHECK(post_proof(harness, headers).status == 202);
        CHECK(poll(harness, headers).status == 404);
    }
}

TEST_CASE("a body must say that it is JSON where the key came in a cookie alone") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    struct Row {
        Headers headers;
        int status;
    };
    const std::pair<std::string, std::string> cookie{"Cookie", "x-api-key=" + web_key};
    const std::pair<std::string, std::string> bearer{"Authorization", "Bearer " + web_key};
    const std::pair<std::string, std::string> text{"Content-Type", "text/plain"};
    const Row rows[] = {
        {{cookie}, 400},
        {{cookie, text}, 400},
        {{cookie, {"Content-Type", "application/json"}}, 202},
        {{cookie, bearer}, 202},  // no page can make a browser send the second
        {{bearer, text}, 202},
        {{{"x-api-key", web_key}}, 202},
        {{{"x-api-key", web_key}, {"Cookie", "theme=dark"}, text}, 202},
        {{{"x-api-key", web_key}, {"Origin", "https://dapp.example"}, text}, 400},
    };
    for (const Row& row : rows) {
        CAPTURE(row.headers.back().second);
        const Answer answer = harness.send(
            {"POST", proof_path, api_test::sample("input-proof-1-value.json"), row.headers});
        CHECK(answer.status == row.status);
        if (row.status == 400) CHECK(answer.label() == "request_error");
        if (row.headers.back() != text) CHECK(poll(harness, row.headers).status == 404);
    }
}

TEST_CASE("no key, a wrong one and two at once get the same 401") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Headers forms[] = {
        {},
        {{"x-api-key", ""}},
        {{"x-api-key", wrong_key}},
        {{"x-api-key", web_key.substr(1)}},
        {{"x-api-key", "Bearer " + web_key}},
        {{"authorization", web_key}},
        {{"authorization", "Bearer"}},
        {{"authorization", "Basic " + web_key}},
        {{"authorization", "Bearer " + wrong_key}},
        {{"cookie", "x-api-key"}},
        {{"cookie", "X-Api-Key=" + web_key}},
        {{"cookie", "my-x-api-key=" + web_key}},
        {{"cookie", "x-api-key-2=" + web_key}},
        {{"cookie", "x-api-key=" + wrong_key}},
        {{"x-helper-token", web_key}},
        {{"x-api-key", web_key}, {"authorization", "Bearer " + slow_key}},
        {{"x-api-key", web_key}, {"x-api-key", slow_key}},
        {{"x-api-key", web_key}, {"cookie", "x-api-key=" + wrong_key}},
        {{"x-api-key", web_key}, {"x-api-key", slow_key}, {"x-api-key", web_key}},
    };
    const Answer first = poll(harness, {});
    CHECK(first.label() == "unauthorized");
    CHECK(first.message().find("x-api-key: KEY") != std::string::npos);
    for (const Headers& headers : forms) {
        CAPTURE((headers.empty() ? std::string() : headers.front().second));
        for (const Answer& answer : {post_proof(harness, headers), poll(harness, headers)}) {
            CHECK(answer.status == 401);
            CHECK(answer.header("WWW-Authenticate") == "Bearer realm=\"posthouse\"");
            CHECK(answer.header("Retry-After").empty());
            CHECK(answer.json["status"] == "failed");
            CHECK(answer.json["requestId"].is_string());
            CHECK(answer.json["error"] == first.json["error"]);
        }
    }
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("404 and 405 come before 401, and 401 before everything about the body") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    CHECK(harness.get("/v2/nothing").status == 404);
    CHECK(harness.get(proof_path).status == 405);
    CHECK(harness.send({"DELETE", proof_path + job_place, {}, {}}).status == 405);
    CHECK(harness.send({"POST", proof_path, "not json", {{"Content-Type", "text/plain"}}}).status ==
          401);
    const Headers key_and_text = {{"Content-Type", "text/plain"}, {"x-api-key", web_key}};
    CHECK(harness.send({"POST", proof_path, "not json", key_and_text}).status == 400);
    CHECK(harness.send({"GET", proof_path + "/no-id", {}, {}}).status == 401);

    for (const char* method : {"POST", "GET"}) {
        for (const char* route : {"/v2/input-proof", "/v2/public-decrypt", "/v2/user-decrypt",
                                  "/v2/delegated-user-decrypt", "/v3/user-decrypt"}) {
            CAPTURE(route);
            const bool polls = std::string(method) == "GET";
            const Call call{method, polls ? route + job_place : route, "{}"};
            CHECK(harness.send(call).status == 401);
            CHECK(harness.app.handle(api_test::head_of(call)).status == 401);
        }
    }
}

TEST_CASE("what tells about the service, preflights and the other door stay open") {
    const KeysFile file(two_keys);
    api::Options options = with_clients(file);
    options.cors_allow_origin = "*";
    Harness harness(options);
    for (const char* path : {"/liveness", "/healthz", "/version"}) {
        CHECK(harness.get(path).status == 200);
    }
    CHECK(harness.send({"OPTIONS", proof_path, {}, {}}).status == 204);
    CHECK(post_share(harness, {}).status == 200);
    CHECK(poll(harness, {}).header("Access-Control-Allow-Origin") == "*");
}

TEST_CASE("posts beyond the rate of a key get 429 before their body is read") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Headers slow{{"x-api-key", slow_key}};
    CHECK(post_proof(harness, slow).status == 202);
    CHECK(post_proof(harness, slow).status == 202);

    const Answer limited = post_proof(harness, slow);
    CHECK(limited.status == 429);
    CHECK(limited.label() == "rate_limited");
    CHECK(limited.header("Retry-After") == "2");
    CHECK(harness.submitter.requests.size() == 2);

    const Call head_only{
        "POST", proof_path, {}, {{"Content-Type", "application/json"}, {"x-api-key", slow_key}}};
    CHECK(harness.app.before_body(api_test::head_of(head_only)).answer->status == 429);

    harness.clock.advance(1'999'999'999ns);
    CHECK(post_proof(harness, slow).header("Retry-After") == "1");
    harness.clock.advance(1ns);
    CHECK(post_proof(harness, slow).status == 202);
    CHECK(post_proof(harness, slow).status == 429);

    // Neither polls nor other clients.
    for (int i = 0; i < 20; ++i) CHECK(poll(harness, slow).status == 404);
    for (int i = 0; i < 20; ++i) CHECK(post_proof(harness, {{"x-api-key", web_key}}).status == 202);
}

TEST_CASE("a request counts once: not when its head is refused, but without its body") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Headers slow{{"x-api-key", slow_key}};
    const Headers slow_text{
        {"x-api-key", slow_key}, {"Origin", "null"}, {"Content-Type", "text/plain"}};
    for (int i = 0; i < 10; ++i) {
        CHECK(harness.send({"POST", proof_path, "{}", slow_text}).status == 400);
        CHECK(harness.send({"POST", "/v2/nothing", "{}", slow}).status == 404);
        CHECK(harness.send({"POST", "/liveness", "{}", slow}).status == 405);
    }
    CHECK(post_proof(harness, slow).status == 202);
    const Call begun{
        "POST", proof_path, {}, {{"Content-Type", "application/json"}, {"x-api-key", slow_key}}};
    CHECK_FALSE(harness.app.before_body(api_test::head_of(begun)).answer);
    CHECK(post_proof(harness, slow).status == 429);
    // A head that was let in is answered, though the last token went with it.
    net::HttpRequest whole = api_test::head_of(begun);
    const std::string body = api_test::sample("input-proof-1-value.json");
    whole.body = body;
    CHECK(harness.app.handle(whole).status == 202);
}

TEST_CASE("the gatekeeper says who sent a request") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const auto admit = [&](const Headers& headers, const std::string& path) {
        return harness.authenticator.admit(api_test::head_of({"POST", path, {}, headers}));
    };
    const auto slow = admit({{"x-api-key", slow_key}}, proof_path);
    REQUIRE(slow);
    CHECK(slow->key->client.name == "slow");
    CHECK(slow->client_id() == static_cast<std::int64_t>(api::access::client_named("slow").id));
    CHECK_FALSE(admit({{"x-api-key", wrong_key}}, proof_path));
    CHECK_FALSE(admit({}, proof_path));
    for (const std::string& path : {share_path, std::string("/version")}) {
        const auto open = admit({{"x-api-key", slow_key}}, path);
        REQUIRE(open);
        CHECK(open->client_id() == 0);
    }
}

TEST_CASE("shares may come with any token of the file or with the one of the configuration") {
    const KeysFile file(two_keys);
    api::Options options = with_tokens(file);
    options.access.share_api_token = "short";
    Harness harness(options);
    const Json unauthorized{{"status", "error"}, {"error", "unauthorized"}};
    for (const std::string& token : {std::string("short"), web_key, slow_key}) {
        CHECK(post_share(harness, {{"X-Helper-Token", token}}).status == 200);
    }
    const Headers wrong_ones[] = {{},
                                  {{"X-Helper-Token", ""}},
                                  {{"X-Helper-Token", wrong_key}},
                                  {{"x-api-key", web_key}},
                                  {{"X-Helper-Token", web_key}, {"X-Helper-Token", "short"}}};
    for (const Headers& headers : wrong_ones) {
        const Answer answer = post_share(harness, headers);
        CHECK(answer.status == 401);
        CHECK(answer.json == unauthorized);
        CHECK(answer.header("WWW-Authenticate") == "X-Helper-Token realm=\"posthouse\"");
    }
    CHECK(post_proof(harness, {}).status == 202);
    CHECK(harness.authenticator
              .admit(api_test::head_of({"POST", share_path, {}, {{"x-helper-token", web_key}}}))
              ->key->client.name == "web");

    CHECK(post_share(harness, {{"X-Helper-Token", slow_key}}).status == 200);
    const Answer limited = post_share(harness, {{"X-Helper-Token", slow_key}});
    CHECK(limited.status == 429);
    CHECK(limited.header("Retry-After") == "2");
    CHECK(limited.json ==
          Json{{"status", "error"}, {"error", "too many requests with this token"}});
}

TEST_CASE("shares that are switched off say so before they ask for a token") {
    const KeysFile file(two_keys);
    api::Options options = with_tokens(file);
    options.share_disable = true;
    Harness harness(options);
    for (int i = 0; i < 5; ++i) {
        CHECK(post_share(harness, {{"X-Helper-Token", slow_key}}).status == 503);
    }
    CHECK(post_share(harness, {}).status == 503);
}

TEST_CASE("a reload lets new keys in, gone ones not, and forgets no limit that stayed") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Headers slow{{"x-api-key", slow_key}};
    CHECK(post_proof(harness, slow).status == 202);
    CHECK(post_proof(harness, slow).status == 202);

    file.write("slow " + slow_key + " 0.5 2\nnew new-0123456789abcdef\n# gone: web\n");
    CHECK(post_proof(harness, {{"x-api-key", "new-0123456789abcdef"}}).status == 401);
    CHECK_FALSE(ring_of(harness).reload());
    CHECK(ring_of(harness).size() == 2);
    CHECK(post_proof(harness, {{"x-api-key", "new-0123456789abcdef"}}).status == 202);
    CHECK(post_proof(harness, {{"x-api-key", web_key}}).status == 401);
    CHECK(post_proof(harness, slow).status == 429);

    file.write("slow " + slow_key + " 0.5 3\n");
    CHECK_FALSE(ring_of(harness).reload());
    CHECK(post_proof(harness, slow).status == 202);
}

TEST_CASE("keys may be read again while requests come") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Call call{"GET", proof_path + job_place, {}, {{"x-api-key", web_key}}};
    const net::HttpRequest request = api_test::head_of(call);
    std::atomic<bool> done{false};
    std::atomic<int> refused{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] {
                do {
                    const auto pass = harness.authenticator.admit(request);
                    const bool fine = pass && pass->key->client.name == "web" &&
                                      harness.authenticator.is_valid(*pass);
                    refused += fine ? 0 : 1;
                } while (!done);
            });
        }
        for (int i = 0; i < 200; ++i) {
            file.write(i % 2 == 0 ? "web " + web_key + "\n" : two_keys);
            CHECK_FALSE(ring_of(harness).reload());
        }
        done = true;
    }
    CHECK(refused == 0);
}

TEST_CASE("a key that goes while its request arrives is good for nothing") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const Call call{
        "POST", proof_path, {}, {{"Content-Type", "application/json"}, {"x-api-key", web_key}}};
    const net::HttpRequest request = api_test::head_of(call);
    CHECK_FALSE(harness.app.before_body(request).answer);
    file.write("slow " + slow_key + "\n");
    CHECK_FALSE(ring_of(harness).reload());
    CHECK(harness.app.handle(request).status == 401);
}

TEST_CASE("a bad file at a reload changes nothing and is named") {
    const KeysFile file(two_keys);
    Harness harness(with_clients(file));
    const auto reload = [&] { return ring_of(harness).reload().value_or("it was read"); };

    file.write("web " + web_key + "\nweb " + wrong_key + "\n");
    CHECK(reload() == file.path() + ":2: the name is that of line 1; allowed: each name once");
    file.write("");
    CHECK(reload().starts_with(file.path() + ": holds no key"));
    REQUIRE(::chmod(file.path().c_str(), 0644) == 0);
    CHECK(reload().starts_with(file.path() + ": has mode 0644"));
    REQUIRE(::unlink(file.path().c_str()) == 0);
    CHECK(reload().starts_with(file.path() + ": is not there"));

    CHECK(ring_of(harness).size() == 2);
    CHECK(post_proof(harness, {{"x-api-key", web_key}}).status == 202);
    CHECK(post_proof(harness, {{"x-api-key", wrong_key}}).status == 401);
}

TEST_CASE("with a bad file there is no start") {
    const support::VirtualClock clock;
    api::Options options;
    options.access.client_keys_file = "/nowhere/keys";
    CHECK_THROWS_WITH_AS(api::access::Authenticator(options.access, clock),
                         "/nowhere/keys: is not there; create it with mode 0600",
                         std::runtime_error);
    options.access.client_keys_file.clear();
    options.access.share_tokens_file = "credential:tokens";
    CHECK_THROWS_AS(api::access::Authenticator(options.access, clock), std::runtime_error);
}

TEST_CASE("no answer and no log line repeats a key") {
    const KeysFile clients(two_keys);
    const KeysFile tokens("wallets token-0123456789abcdef 0.01\n");
    api::Options options = with_clients(clients);
    options.access.share_tokens_file = tokens.path();
    Harness harness(options);
    std::string said;
    const auto note = [&](const Answer& answer) {
        said += answer.body;
        for (const auto& [name, value] : answer.headers) said += name + value;
    };
    for (const std::string& key : {web_key, slow_key, wrong_key}) {
        for (int i = 0; i < 4; ++i) {
            note(post_proof(harness, {{"x-api-key", key}}));
            note(poll(harness, {{"authorization", "Bearer " + key}}));
        }
        said += harness.app
                    .unreadable(api_test::head_of({"POST", proof_path, {}, {{"x-api-key", key}}}),
                                net::HttpProblem::truncated)
                    .body;
        note(post_share(harness, {{"X-Helper-Token", key}}));
    }
    note(post_share(harness, {{"X-Helper-Token", "token-0123456789abcdef"}}));
    note(post_share(harness, {{"X-Helper-Token", "token-0123456789abcdef"}}));
    for (const auto& line : harness.logger.lines()) said += line.text;
    CHECK(harness.logger.count("status=401 label=unauthorized") > 0);
    CHECK(harness.logger.count("status=429 label=rate_limited") > 0);
    CHECK(said.find("0123456789abcdef") == std::string::npos);
}

}  // namespace
