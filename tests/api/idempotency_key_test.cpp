#include "api/idempotency_key.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;

Answer post(Harness& harness, const std::string& path, const std::string& body,
            const std::vector<std::string>& keys) {
    api_test::Call call{"POST", path, body};
    for (const std::string& key : keys) call.headers.emplace_back("Idempotency-Key", key);
    return harness.send(call);
}

std::string proof_body() {
    return api_test::sample("input-proof-1-value.json");
}

}  // namespace

TEST_CASE("field report 55: an Idempotency-Key is 1 to 255 visible characters, sent once") {
    struct Row {
        std::vector<std::string> keys;
        std::string issue;  // empty: fine
    };
    const Row rows[] = {
        {{"a"}, ""},
        {{"\"8e03978e-40d5-43dd-bc93-6894a57f9324\""}, ""},
        {{std::string(255, 'k')}, ""},
        {{std::string(256, 'k')}, "Must be at most 255 characters long"},
        {{""}, "Must not be empty"},
        {{"two words"}, "Must be visible ASCII characters without spaces"},
        {{"gr\xc3\xbc\xc3\x9f"}, "Must be visible ASCII characters without spaces"},
        {{"a", "a"}, "Must be sent only once"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.issue);
        Harness harness;
        const Answer answer = post(harness, "/v2/input-proof", proof_body(), row.keys);
        CHECK(answer.status == (row.issue.empty() ? 202 : 400));
        if (row.issue.empty()) continue;
        CHECK(answer.label() == "validation_failed");
        CHECK(answer.json["error"]["details"][0]["field"] == "Idempotency-Key");
        CHECK(answer.json["error"]["details"][0]["issue"] == row.issue);
        CHECK(harness.submitter.requests.empty());
    }
}

TEST_CASE("field report 55: the key counts for its route and its client only") {
    const auto key_of = [](std::string_view path, std::int64_t client, std::string_view key) {
        net::HttpRequest request;
        request.path = path;
        request.headers = {{"idempotency-key", key}};
        return std::get<domain::Bytes32>(api::read_idempotency_key(request, client));
    };
    const auto key = key_of("/v2/input-proof", 0, "k");
    CHECK(key == key_of("/v2/input-proof", 0, "k"));
    CHECK(key != key_of("/v2/input-proof", 0, "l"));
    CHECK(key != key_of("/v2/public-decrypt", 0, "k"));
    CHECK(key != key_of("/v2/input-proof", 1, "k"));
}

TEST_CASE("a POST without the header goes by its content alone") {
    Harness harness;
    post(harness, "/v2/input-proof", proof_body(), {});
    CHECK_FALSE(harness.submitter.submit_options.back().idempotency_key);
    post(harness, "/v2/input-proof", proof_body(), {"k"});
    CHECK(harness.submitter.submit_options.back().idempotency_key);
}

TEST_CASE("field report 55: a key used for other content is 422, and names the header") {
    Harness harness;
    harness.submitter.forced = engine::KeyReused{};
    const Answer answer = post(harness, "/v2/input-proof", proof_body(), {"k"});
    CHECK(answer.status == 422);
    CHECK(answer.label() == "validation_failed");
    CHECK(answer.json["error"]["details"][0]["field"] == "Idempotency-Key");
    CHECK(answer.body.find("\"k\"") == std::string::npos);
}

TEST_CASE("field report 55: what is wrong with the body is said first, and nothing is remembered") {
    Harness harness;
    const Answer answer = post(harness, "/v2/input-proof", "{}", {std::string(256, 'k')});
    CHECK(answer.label() == "missing_fields");
    CHECK(harness.submitter.submit_options.empty());
}
