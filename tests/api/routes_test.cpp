// What the HTTP interface does around the requests themselves (relayer-api 1.1, share-helper 1,
// field reports 32, 52, 53, 65).

#include <cctype>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
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

const std::string share_path = "/shielded-vote/v1/shares";
const std::string proof_path = "/v2/input-proof";

const std::string submit_paths[] = {proof_path, "/v2/public-decrypt", "/v2/user-decrypt",
                                    "/v2/delegated-user-decrypt", "/v3/user-decrypt"};

TEST_CASE("unknown paths are 404, wrong methods 405 with Allow") {
    struct Row {
        const char* method;
        std::string path;
        int status;
        const char* allow;
    };
    const std::string id = "/0197a7f0-0000-7000-8000-000000000001";
    const Row rows[] = {
        {"GET", "/", 404, ""},
        {"GET", "", 404, ""},
        {"POST", "/v2/nothing", 404, ""},
        {"GET", "/v2/input-proof/", 404, ""},
        {"GET", proof_path + id + "/x", 404, ""},
        {"GET", "/v1/input-proof" + id, 404, ""},
        {"POST", "/v2/input-proofs", 404, ""},
        {"POST", "/V2/input-proof", 404, ""},
        {"GET", proof_path, 405, "POST"},
        {"DELETE", proof_path + id, 405, "GET, HEAD"},
        {"POST", proof_path + id, 405, "GET, HEAD"},
        {"PUT", "/v3/user-decrypt", 405, "POST"},
        {"POST", "/liveness", 405, "GET, HEAD"},
        {"OPTIONS", proof_path, 405, "POST"},
        {"GET", share_path, 405, "POST"},
        {"HEAD", "/liveness", 200, ""},
        {"HEAD", proof_path + id, 404, ""},
    };
    Harness harness;
    for (const Row& row : rows) {
        CAPTURE(row.method);
        CAPTURE(row.path);
        const Answer answer = harness.send({row.method, row.path, {}, {}});
        CHECK(answer.status == row.status);
        CHECK(answer.header("Allow") == row.allow);
    }
    CHECK(harness.get(share_path).json ==
          Json{{"status", "error"}, {"error", "wrong method: send POST"}});
}

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

TEST_CASE("wrong content types are refused before the body, naming the fix") {
    struct Row {
        const char* type;  // empty: no header
        int relayer;
        int share;
    };
    const Row rows[] = {
        {"application/json", 202, 200},
        {"application/json; charset=utf-8", 202, 200},
        {"Application/JSON ;x=y", 202, 200},
        {"application/vnd.api+json", 202, 200},
        {"", 400, 200},
        {"text/plain", 400, 200},
        {"application/jsonx", 400, 200},
        {"application/x-www-form-urlencoded", 400, 415},
        {"application/x-www-form-urlencoded; charset=utf-8", 400, 415},
        {"multipart/form-data; boundary=x", 400, 415},
    };
    for (const Row& row : rows) {
        CAPTURE(row.type);
        Harness harness;
        Call call{"POST", proof_path, api_test::sample("input-proof-1-value.json"), {}};
        if (*row.type != '\0') call.headers = {{"content-type", row.type}};
        const Answer relayer = harness.send(call);
        CHECK(relayer.status == row.relayer);
        if (row.relayer == 400) {
            CHECK(relayer.label() == "request_error");
            CHECK(relayer.message().find("send Content-Type: application/json") !=
                  std::string::npos);
        }
        call.path = share_path;
        call.body = api_test::sample("vote-share.json");
        const Answer share = harness.send(call);
        CHECK(share.status == row.share);
        if (row.share == 415) {
            CHECK(share.json["error"].get<std::string>().find(
                      "send Content-Type: application/json") != std::string::npos);
        }
    }
}

TEST_CASE("requests that can not be read are answered in the shape of their API") {
    struct Row {
        api::HttpProblem problem;
        int relayer;
        const char* label;
        int share;
    };
    using api::HttpProblem;
    const Row rows[] = {
        {HttpProblem::malformed_head, 400, "request_error", 400},
        {HttpProblem::head_too_large, 431, "request_error", 431},
        {HttpProblem::transfer_encoding, 400, "request_error", 411},
        {HttpProblem::content_encoding, 400, "request_error", 415},
        {HttpProblem::body_too_large, 400, "request_error", 400},
        {HttpProblem::truncated, 400, "request_error", 400},
        {HttpProblem::deadline, 400, "request_error", 408},
        {HttpProblem::overloaded, 503, "gateway_not_reachable", 503},
    };
    Harness harness;
    for (const Row& row : rows) {
        CAPTURE(static_cast<int>(row.problem));
        const Answer relayer = harness.unreadable({"POST", proof_path, {}}, row.problem);
        CHECK(relayer.status == row.relayer);
        CHECK(relayer.json["status"] == "failed");
        CHECK(relayer.label() == row.label);
        const Answer share = harness.unreadable({"POST", share_path, {}}, row.problem);
        CHECK(share.status == row.share);
        CHECK(share.json["status"] == "error");
        CHECK_FALSE(share.json["error"].get<std::string>().empty());
        CHECK((relayer.header("Retry-After") == "4") == (row.relayer == 503));
        CHECK((share.header("Retry-After") == "4") == (row.share == 503));
    }
}

TEST_CASE("a connection too many gets an envelope of its own, whatever it wanted") {
    Harness harness;
    const auto ask = [&] { return harness.unreadable({}, api::HttpProblem::connections_too_many); };
    const Answer answer = ask();
    CHECK(answer.status == 503);
    CHECK(answer.json["status"] == "failed");
    CHECK(answer.label() == "gateway_not_reachable");
    CHECK(answer.json["error"]["message"].get<std::string>().find("too many connections") !=
          std::string::npos);
    CHECK(answer.header("Retry-After") == "1");
    CHECK(answer.json["requestId"] != ask().json["requestId"]);
}

TEST_CASE("full gates are 429 with the static Retry-After") {
    api::Options options;
    options.api_retry_after_seconds = 9;
    Harness harness(options);
    harness.intake.forced = engine::Bounced{2};
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
    harness.intake.forced = engine::Unavailable{"disk full: https://u:pw@host/x", 7};
    const std::string proof = api_test::sample("input-proof-1-value.json");
    for (int i = 0; i < 100; ++i) {
        const Answer answer = harness.post(proof_path, proof);
        CHECK(answer.status == 503);
        CHECK(answer.header("Retry-After") == "7");
        CHECK(answer.label() == "gateway_not_reachable");
        harness.clock.advance(std::chrono::milliseconds(590));
    }
    CHECK(harness.journal.count("intake_unavailable") == 6);
    CHECK(harness.journal.count("pw@host") == 0);

    const Answer share = harness.post(share_path, api_test::sample("vote-share.json"));
    CHECK(share.status == 503);
    CHECK(share.json == Json{{"status", "error"}, {"error", "helper unavailable"}});
    CHECK(share.header("Retry-After") == "7");

    harness.intake.forced = engine::Unavailable{"stopping", 0};
    CHECK(harness.post(proof_path, proof).header("Retry-After") == "1");
}

TEST_CASE("an exception becomes a typed 500 that tells nothing") {
    Harness harness;
    const auto fail = [&](const std::string& path) {
        const Call call{"POST", path, {}};
        try {
            throw std::runtime_error("sqlite: https://secret@disk failed");
        } catch (const std::exception&) {
            return api_test::to_answer(harness.app.failed(Harness::head_of(call)));
        }
    };
    const Answer relayer = fail(proof_path);
    CHECK(relayer.status == 500);
    CHECK(relayer.label() == "internal_server_error");
    CHECK(relayer.message() == "Internal server error");
    CHECK(relayer.json["requestId"].get<std::string>().size() == 36);
    CHECK(fail(share_path).json == Json{{"status", "error"}, {"error", "internal error"}});
    CHECK(harness.journal.count("request_failed") == 1);
    CHECK(harness.journal.count("sqlite") == 1);
    CHECK(harness.journal.count("secret") == 0);
}

TEST_CASE("browsers may read Retry-After where an origin is allowed, and only there") {
    api::Options options;
    options.cors_allow_origin = "https://dapp.example";
    Harness harness(options);
    const Answer preflight = harness.send({"OPTIONS", proof_path, {}, {}});
    CHECK(preflight.status == 204);
    CHECK(preflight.body.empty());
    CHECK(preflight.header("Access-Control-Allow-Methods") == "POST");
    CHECK(preflight.header("Access-Control-Allow-Headers").find("Content-Type") !=
          std::string::npos);
    CHECK(harness.send({"OPTIONS", "/nowhere", {}, {}}).status == 404);

    const Answer accepted = harness.post(proof_path, api_test::sample("input-proof-1-value.json"));
    const Answer refused = harness.post(proof_path, "{");
    for (const Answer& answer : {preflight, accepted, refused, harness.get("/nowhere")}) {
        CHECK(answer.header("Access-Control-Allow-Origin") == "https://dapp.example");
        CHECK(answer.header("Access-Control-Expose-Headers") == "Retry-After, Preference-Applied");
        CHECK(answer.header("Vary") == "Origin");
    }
    CHECK(Harness().get("/liveness").header("Access-Control-Allow-Origin") == "");
}

TEST_CASE("the share route opens with the token alone, whatever the body") {
    api::Options options;
    options.share_api_token = "correct horse";
    Harness harness(options);
    const std::string body = api_test::sample("vote-share.json");
    const auto with = [&](std::vector<std::pair<std::string, std::string>> headers,
                          const std::string& text) {
        return harness.send({"POST", share_path, text, std::move(headers)});
    };
    for (const char* token : {"", "correct", "correct horse ", "Correct horse"}) {
        CHECK(with({{"X-Helper-Token", token}}, body).status == 401);
    }
    CHECK(with({}, "nope").json == Json{{"status", "error"}, {"error", "unauthorized"}});
    CHECK(with({{"x-helper-token", "correct horse"}}, body).status == 200);
    CHECK(with({{"x-helper-token", "correct horse"}}, "nope").status == 400);
    CHECK(Harness().post(share_path, body).status == 200);

    // Nobody who forgets to ask first gets past the door.
    const Call call{"POST", share_path, body};
    api::HttpRequest request = Harness::head_of(call);
    request.body = call.body;
    CHECK(harness.app.handle(request).status == 401);

    options.share_disable = true;
    Harness off(options);
    const Answer answer = off.post(share_path, body);
    CHECK(answer.status == 503);
    CHECK(answer.json["error"] == "helper unavailable");
}

TEST_CASE("share bodies have their own limit") {
    Harness harness;
    const std::string padding(1'048'577, ' ');
    const Answer answer = harness.post(share_path, padding);
    CHECK(answer.status == 400);
    CHECK(answer.json["error"].get<std::string>().starts_with("invalid JSON:"));

    const Call announced{"POST", share_path, {}, {{"Content-Length", "1048577"}}};
    CHECK(harness.app.before_body(Harness::head_of(announced)).value().status == 400);
    const Call fits{"POST", share_path, {}, {{"Content-Length", "1048576"}}};
    CHECK_FALSE(harness.app.before_body(Harness::head_of(fits)));
}

TEST_CASE("rounds are asked for once and remembered, unknown ones are asked for again") {
    Harness harness;
    const std::string body = api_test::sample("vote-share.json");
    CHECK(harness.post(share_path, body).status == 200);
    CHECK(harness.post(share_path, body).status == 200);
    CHECK(harness.rounds.calls == 1);
    CHECK(harness.intake.terms.back().vote_end == domain::from_unix_ms(4'102'444'800'000));

    const std::string unknown =
        api_test::sample_with("vote-share.json", "vote_round_id", std::string(64, 'b'));
    CHECK(harness.post(share_path, unknown).status == 400);
    CHECK(harness.post(share_path, unknown).status == 400);
    CHECK(harness.rounds.calls == 3);

    harness.rounds.forced = engine::Unreachable{"connect https://chain.example/key"};
    const Answer down = harness.post(share_path, unknown);
    CHECK(down.status == 500);
    CHECK(down.json["error"] == "internal error");
    CHECK(harness.journal.count("round_lookup_failed") == 1);
    CHECK(harness.journal.count("chain.example") == 0);

    harness.rounds.forced = engine::Round{domain::from_unix_ms(0)};
    CHECK(harness.post(share_path, unknown).status == 500);
    CHECK(harness.post(share_path, body).status == 200);
}

TEST_CASE("every call has an id of its own, a random UUID version 4") {
    Harness harness;
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) {
        const std::string id = harness.post(proof_path, "{").json["requestId"];
        CHECK(id.size() == 36);
        CHECK(id[14] == '4');
        CHECK(std::string("89ab").find(id[19]) != std::string::npos);
        CHECK(seen.insert(id).second);
    }
}

TEST_CASE("no log line holds what a client sent in confidence") {
    api::Options options;
    options.share_api_token = "token-of-the-wallets";
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
    CHECK(harness.journal.lines().size() >= 6);
    for (const char* secret : {"token-of", "wrong-token", "VUts0", "5554b6cd3e332", "cwHIa",
                               "7301c869", "Yw8Jv", "37fd95ef", "03000000000000", "6d4b6cd3"}) {
        CAPTURE(secret);
        CHECK(harness.journal.count(secret) == 0);
    }
}

TEST_CASE("a duplicate gets the job it belongs to") {
    Harness harness;
    const std::string body = api_test::sample("input-proof-1-value.json");
    const Answer first = harness.post(proof_path, body);
    const Answer again = harness.post(proof_path, body);
    CHECK(again.status == 202);
    CHECK(first.json["job_id"] == again.json["job_id"]);
    CHECK(first.json["requestId"] != again.json["requestId"]);
}

TEST_CASE("hostile bodies get a 400 on every route") {
    const std::string deep(1'000'000, '[');
    std::string deep_objects;
    for (int i = 0; i < 100'000; ++i) deep_objects += "{\"a\":";
    const std::string bodies[] = {
        deep,
        deep_objects,
        std::string(1'000'000, '{'),
        std::string(1'000'000, '"'),
        std::string(1'000'000, '\\'),
        std::string(1'000'000, '\0'),
        std::string(1'000'000, '9'),
        std::string("\xFF\xFE{}", 4),
        "\xEF\xBB\xBF{}",
        "{\"extraData\":\"\xC3\x28\"}",
        "{\"extraData\":\"\\ud800\"}",
        std::string("{\"extraData\":\"\0\"}", 17),
        "{\"extraData\":1,\"extraData\":1}",
        "{\"a\":{\"b\":1,\"b\":2}}",
        "{\"a\":1e999}",
        "{\"a\":" + std::string(100'000, '1') + "}",
        "[]",
        "5",
        "\"text\"",
        "nulll",
        "{}{}",
        "{} x",
    };
    Harness harness;
    for (const std::string& body : bodies) {
        CAPTURE(body.substr(0, 40));
        for (const std::string& path : submit_paths) {
            const Answer answer = harness.post(path, body);
            CHECK(answer.status == 400);
            CHECK(answer.json["status"] == "failed");
        }
        const Answer share = harness.post(share_path, body);
        CHECK(share.status == 400);
        CHECK(share.json["status"] == "error");
    }
    CHECK(harness.intake.requests.empty());
}

TEST_CASE("a body cut at any byte is a 400") {
    const std::pair<std::string, const char*> examples[] = {
        {"/v2/public-decrypt", "public-decrypt.json"},
        {"/v2/user-decrypt", "user-decrypt.json"},
        {"/v2/delegated-user-decrypt", "delegated-user-decrypt.json"},
        {"/v3/user-decrypt", "user-decrypt-v3.json"},
        {share_path, "vote-share.json"},
    };
    for (const auto& [path, file] : examples) {
        Harness harness;
        std::string body = api_test::sample(file);
        while (std::isspace(static_cast<unsigned char>(body.back())) != 0) body.pop_back();
        for (std::size_t size = 0; size < body.size(); ++size) {
            CAPTURE(size);
            CHECK(harness.post(path, std::string_view(body).substr(0, size)).status == 400);
        }
        CHECK(harness.intake.requests.empty());
        CHECK(harness.post(path, body).status < 300);
    }
}

TEST_CASE("members of a wrong type name the member") {
    struct Row {
        std::string path;
        const char* file;
        const char* member;
        Json value;
        const char* field;
        const char* issue;
    };
    const Row rows[] = {
        {"/v2/public-decrypt",
         "public-decrypt.json",
         "ciphertextHandles",
         {1},
         "ciphertextHandles",
         "Value must be a string"},
        {"/v2/public-decrypt", "public-decrypt.json", "ciphertextHandles", nullptr,
         "ciphertextHandles", "Invalid data type"},
        {"/v2/user-decrypt", "user-decrypt.json", "handleContractPairs.0", "x",
         "handleContractPairs", "Invalid data type"},
        {"/v2/user-decrypt", "user-decrypt.json", "requestValidity.durationDays", 7, "durationDays",
         "Value must be a string"},
        {"/v3/user-decrypt", "user-decrypt-v3.json", "attestedPayload", 5, "attestedPayload",
         "Invalid data type"},
        {"/v3/user-decrypt", "user-decrypt-v3.json", "attestedPayload.handles.0.ctHandle", nullptr,
         "ctHandle", "Value must be a string"},
    };
    Harness harness;
    for (const Row& row : rows) {
        CAPTURE(row.member);
        const Answer answer =
            harness.post(row.path, api_test::sample_with(row.file, row.member, row.value));
        CHECK(answer.status == 400);
        CHECK(answer.label() == "validation_failed");
        CHECK(answer.json["error"]["details"] ==
              Json{{{"field", row.field}, {"issue", row.issue}}});
    }
    const Answer list = harness.post(proof_path, "[\"8009\"]");
    CHECK(list.message() == "Validation failed for 1 field in the request: request");
    for (const char* ignored :
         {"attestedPayload.handles.0.extra", "attestedPayload.requestValidity.extra"}) {
        CHECK(
            harness
                .post("/v3/user-decrypt", api_test::sample_with("user-decrypt-v3.json", ignored, 1))
                .status == 202);
    }
}

}  // namespace
