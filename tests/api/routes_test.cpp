// What the HTTP interface does around the requests themselves (relayer-api 1.1, share-helper 1,
// field reports 32, 52, 53, 65).

#include <chrono>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Call;
using api_test::Harness;
using api_test::Json;
using api_test::proof_path;
using api_test::share_path;

TEST_CASE("T-001: /liveness is 200 whatever fails") {
    Harness harness;
    for (engine::Dependency& dependency : harness.health.given) dependency.ok = false;
    const Answer answer = harness.get("/liveness");
    CHECK(answer.status == 200);
    CHECK(answer.body == R"({"status":"alive"})");
}

TEST_CASE("T-002: /version names the program, its version and its build") {
    Harness harness;
    const Answer answer = harness.get("/version");
    CHECK(answer.status == 200);
    CHECK(answer.json == Json{{"name", "relayer-service"},
                              {"version", "0.1.0"},
                              {"build", "no_git_hash-no_git_dirty"}});

    api::Options options;
    options.app_name = "mine";
    options.version = "1.2.3";
    options.build = "3f2c1b9-clean";
    CHECK(Harness(options).get("/version").json ==
          Json{{"name", "mine"}, {"version", "1.2.3"}, {"build", "3f2c1b9-clean"}});
}

TEST_CASE("T-003: /healthz is 200 with every dependency by name, 503 while one fails") {
    Harness harness;
    const Answer healthy = harness.get("/healthz");
    CHECK(healthy.status == 200);
    CHECK(healthy.header("Retry-After") == "");
    CHECK(healthy.json ==
          Json{{"status", "healthy"},
               {"dependencies",
                {{"database", "ok"}, {"gateway_http", "ok"}, {"gateway_listener_0", "ok"}}}});

    harness.health.given[1].ok = false;
    const Answer sick = harness.get("/healthz");
    CHECK(sick.status == 503);
    CHECK(sick.header("Retry-After") == "5");
    CHECK(sick.json ==
          Json{{"status", "unhealthy"},
               {"dependencies",
                {{"database", "ok"}, {"gateway_http", "fail"}, {"gateway_listener_0", "ok"}}}});

    harness.health.given.clear();
    CHECK(harness.get("/healthz").json == Json{{"status", "healthy"}});
}

TEST_CASE("any content type will do, but a browser must say JSON (field report 65)") {
    struct Row {
        const char* type;  // empty: no header
        int from_browser;
    };
    const Row rows[] = {
        {"application/json", 202},
        {"application/json; charset=utf-8", 202},
        {"Application/JSON ;x=y", 202},
        {"application/vnd.api+json", 202},
        {"", 400},
        {"text/plain", 400},
        {"application/jsonx", 400},
        {"application/x-www-form-urlencoded", 400},
        {"application/x-www-form-urlencoded; charset=utf-8", 400},
        {"multipart/form-data; boundary=x", 400},
    };
    for (const Row& row : rows) {
        CAPTURE(row.type);
        Harness harness;
        Call call{"POST", proof_path, api_test::sample("input-proof-1-value.json"), {}};
        if (*row.type != '\0') call.headers = {{"content-type", row.type}};
        CHECK(harness.send(call).status == 202);
        // Nobody looks for a key here, so no cookie is one.
        call.headers.emplace_back("Cookie", "x-api-key=0123456789abcdef");
        CHECK(harness.send(call).status == 202);
        for (const char* origin : {"https://dapp.example", "null", ""}) {
            CAPTURE(origin);
            Call from_browser = call;
            from_browser.headers.emplace_back("Origin", origin);
            const Answer relayer = harness.send(from_browser);
            CHECK(relayer.status == row.from_browser);
            if (row.from_browser == 400) {
                CHECK(relayer.label() == "request_error");
                CHECK(relayer.message().find("send Content-Type: application/json") !=
                      std::string::npos);
            }
            from_browser.path = share_path;
            from_browser.body = api_test::sample("vote-share.json");
            CHECK(harness.send(from_browser).status == 200);
        }
    }
}

TEST_CASE("full gates are 429 with the static Retry-After") {
    api::Options options;
    options.api_retry_after_seconds = 9;
    Harness harness(options);
    harness.submitter.forced = engine::QueueFull{2};
    const Answer answer = harness.post(proof_path, api_test::sample("input-proof-1-value.json"));
    CHECK(answer.status == 429);
    CHECK(answer.header("Retry-After") == "9");
    CHECK(answer.label() == "rate_limited");
    CHECK(answer.message() ==
          "Server is experiencing high processing load: relayer is currently processing too many "
          "requests");
    const Answer share = harness.post(share_path, api_test::sample("vote-share.json"));
    CHECK(share.status == 503);
    CHECK(share.header("Retry-After") == "2");
}

TEST_CASE("what could not be stored is 503, and a full disk does not flood the log") {
    Harness harness;
    harness.submitter.forced =
        engine::Unavailable{"disk full: https://u:pw@host/x", 7, "disk_full"};
    const std::string proof = api_test::sample("input-proof-1-value.json");
    for (int i = 0; i < 100; ++i) {
        const Answer answer = harness.post(proof_path, proof);
        CHECK(answer.status == 503);
        CHECK(answer.header("Retry-After") == "7");
        CHECK(answer.label() == "gateway_not_reachable");
        harness.clock.advance(std::chrono::milliseconds(590));
    }
    CHECK(harness.logger.count("intake_unavailable") == 6);
    CHECK(harness.logger.count(" label=disk_full ") == 6);
    CHECK(harness.logger.count("pw@host") == 0);

    const Answer share = harness.post(share_path, api_test::sample("vote-share.json"));
    CHECK(share.status == 503);
    CHECK(share.json == Json{{"status", "error"}, {"error", "helper unavailable"}});
    CHECK(share.header("Retry-After") == "7");

    harness.submitter.forced = engine::Unavailable{"stopping", 0};
    CHECK(harness.post(proof_path, proof).header("Retry-After") == "1");
}

TEST_CASE("an exception becomes a typed 500 that tells nothing (field report 52)") {
    Harness harness;
    const std::string defect = "sqlite: https://secret@disk failed";
    harness.submitter.defect = defect;
    harness.request_reader.defect = defect;
    const auto check_failed = [](const Answer& answer) {
        CHECK(answer.status == 500);
        CHECK(answer.label() == "internal_server_error");
        CHECK(answer.message() == "Internal server error");
        CHECK(answer.json["requestId"].get<std::string>().size() == 36);
        CHECK(answer.body.find("secret") == std::string::npos);
        CHECK_FALSE(answer.has("Retry-After"));
    };
    check_failed(harness.post(proof_path, api_test::sample("input-proof-1-value.json")));
    check_failed(harness.get(proof_path + "/0197a7f0-0000-7000-8000-000000000001"));
    const Answer share = harness.post(share_path, api_test::sample("vote-share.json"));
    CHECK(share.status == 500);
    CHECK(share.json == Json{{"status", "error"}, {"error", "internal error"}});
    CHECK(harness.logger.count("request_failed") == 1);
    CHECK(harness.logger.count("share_call_failed stage=enqueue") == 1);
    CHECK(harness.logger.count("sqlite") == 2);
    CHECK(harness.logger.count("secret") == 0);

    // The next request finds everything in order.
    harness.request_reader.defect.reset();
    CHECK(harness.get(proof_path + "/0197a7f0-0000-7000-8000-000000000001").status == 404);
}

TEST_CASE("browsers may read Retry-After where an origin is allowed (field report 53)") {
    api::Options options;
    options.cors_allow_origin = "https://dapp.example";
    Harness harness(options);
    const Answer preflight = harness.send(
        {"OPTIONS", proof_path, {}, {{"Access-Control-Request-Headers", "content-type,x-any"}}});
    CHECK(preflight.status == 204);
    CHECK(preflight.body.empty());
    CHECK(preflight.header("Access-Control-Allow-Methods") == "POST");
    CHECK(preflight.header("Access-Control-Allow-Headers") == "content-type,x-any");
    const Answer asks_for_none = harness.send({"OPTIONS", proof_path, {}, {}});
    CHECK(asks_for_none.status == 204);
    CHECK(asks_for_none.header("Access-Control-Allow-Headers").empty());
    CHECK(harness.send({"OPTIONS", "/nowhere", {}, {}}).status == 404);

    const Answer accepted = harness.post(proof_path, api_test::sample("input-proof-1-value.json"));
    const Answer refused = harness.post(proof_path, "{");
    for (const Answer& answer : {preflight, accepted, refused, harness.get("/nowhere")}) {
        CHECK(answer.header("Access-Control-Allow-Origin") == "https://dapp.example");
        CHECK(answer.header("Access-Control-Expose-Headers") == "Retry-After, Preference-Applied");
        CHECK(answer.header("Vary") == "Origin");
    }
    // What waits says how long, in whole seconds and readable across origins; what ended does not.
    static const std::regex seconds("[1-9][0-9]*");
    const std::string poll_path = proof_path + "/0197a7f0-0000-7000-8000-000000000001";
    harness.request_reader.outcome = engine::Pending{};
    const Answer pending = harness.get(poll_path);
    harness.request_reader.outcome =
        engine::Ended{domain::Kind::input_proof,
                      domain::Status::timed_out,
                      {domain::Reason::response_timed_out, "late", {}}};
    const Answer ended = harness.get(poll_path);
    harness.submitter.forced = engine::QueueFull{2};
    const Answer bounced = harness.post(proof_path, api_test::sample("input-proof-1-value.json"));
    harness.submitter.forced = engine::Unavailable{"disk full", 5};
    const Answer no_store = harness.post(proof_path, api_test::sample("input-proof-1-value.json"));
    for (const Answer& answer : {accepted, pending, bounced, no_store, ended, refused}) {
        CAPTURE(answer.status);
        CHECK(answer.header("Access-Control-Expose-Headers") == "Retry-After, Preference-Applied");
        if (answer.text("/status") == "queued" || answer.status == 429) {
            CHECK(std::regex_match(answer.header("Retry-After"), seconds));
        }
    }
    CHECK(bounced.status == 429);
    CHECK(no_store.status == 503);
    CHECK(std::regex_match(no_store.header("Retry-After"), seconds));
    CHECK(ended.status == 503);
    CHECK_FALSE(ended.has("Retry-After"));
    CHECK_FALSE(refused.has("Retry-After"));

    CHECK(Harness().get("/liveness").header("Access-Control-Allow-Origin") == "");
}

TEST_CASE("the share route opens with the token alone, whatever the body") {
    api::Options options;
    options.access.share_api_token = "correct horse";
    Harness harness(options);
    const std::string body = api_test::sample("vote-share.json");
    const auto with = [&](std::vector<std::pair<std::string, std::string>> headers,
                          const std::string& text) {
        return harness.send({"POST", share_path, text, std::move(headers)});
    };
    for (const char* token : {"", "correct", "correct  horse", "correct horse.", "Correct horse"}) {
        CHECK(with({{"X-Helper-Token", token}}, body).status == 401);
    }
    CHECK(with({}, "nope").json == Json{{"status", "error"}, {"error", "unauthorized"}});
    CHECK(with({{"x-helper-token", "correct horse"}}, body).status == 200);
    CHECK(with({{"x-helper-token", "correct horse"}}, "nope").status == 400);
    CHECK(Harness().post(share_path, body).status == 200);

    // Nobody who forgets to ask first gets past the door; the server never forgets.
    net::HttpRequest request;
    request.method = "POST";
    request.path = share_path;
    request.body = body;
    CHECK(harness.app.handle(request).status == 401);

    options.share_disable = true;
    Harness off(options);
    const Answer answer = off.post(share_path, body);
    CHECK(answer.status == 503);
    CHECK(answer.json["error"] == "helper unavailable");
}

TEST_CASE("share bodies have their own limit") {
    Harness harness;
    std::string body = api_test::sample("vote-share.json");
    body.resize(1'048'576, ' ');
    CHECK(harness.post(share_path, body).status == 200);
    body.push_back(' ');
    const Answer answer = harness.post(share_path, body);
    CHECK(answer.status == 400);
    CHECK(answer.json["error"].get<std::string>().starts_with("invalid JSON:"));
}

TEST_CASE("rounds are asked for once and remembered, unknown ones are asked for again") {
    Harness harness;
    const std::string body = api_test::sample("vote-share.json");
    CHECK(harness.post(share_path, body).status == 200);
    CHECK(harness.post(share_path, body).status == 200);
    CHECK(harness.rounds.calls == 1);
    CHECK(harness.submitter.submit_options.back().vote_end ==
          domain::from_unix_ms(4'102'444'800'000));

    const std::string unknown =
        api_test::sample_with("vote-share.json", "vote_round_id", std::string(64, 'b'));
    CHECK(harness.post(share_path, unknown).status == 400);
    CHECK(harness.post(share_path, unknown).status == 400);
    CHECK(harness.rounds.calls == 3);

    harness.rounds.forced = engine::Unreachable{"connect https://chain.example/key"};
    const Answer down = harness.post(share_path, unknown);
    CHECK(down.status == 500);
    CHECK(down.json["error"] == "internal error");
    CHECK(harness.logger.count("round_lookup_failed") == 1);
    CHECK(harness.logger.count("chain.example") == 0);

    harness.rounds.forced = engine::Round{domain::from_unix_ms(0)};
    CHECK(harness.post(share_path, unknown).status == 500);
    CHECK(harness.post(share_path, body).status == 200);
}

TEST_CASE("no log line holds what a client sent in confidence") {
    api::Options options;
    options.access.share_api_token = "token-of-the-wallets";
    Harness harness(options);
    harness.send({"POST",
                  share_path,
                  api_test::sample("vote-share.json"),
                  {{"X-Helper-Token", "token-of-the-wallets"}}});
    harness.send({"POST",
                  share_path,
                  api_test::sample_with("vote-share.json", "proposal_id", 0),
                  {{"X-Helper-Token", "token-of-the-wallets"}}});
    harness.send({"POST", share_path, "{}", {{"X-Helper-Token", "wrong-token"}}});
    harness.post("/v3/user-decrypt", api_test::sample("user-decrypt-v3.json"));
    harness.post("/v2/user-decrypt", api_test::sample("user-decrypt.json"));
    harness.post(proof_path, api_test::sample("input-proof-1-value.json"));
    CHECK(harness.logger.lines().size() >= 6);
    for (const char* secret : {"token-of", "wrong-token", "VUts0", "5554b6cd3e332", "cwHIa",
                               "7301c869", "Yw8Jv", "37fd95ef", "03000000000000", "6d4b6cd3"}) {
        CAPTURE(secret);
        CHECK(harness.logger.count(secret) == 0);
    }
}

}  // namespace
