// The general rules of the HTTP interface (relayer-api 1.1), on the socket.

#include <cctype>
#include <regex>
#include <string>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"
#include "domain/request_id.hpp"

namespace {

using api_test::Answer;
using api_test::Harness;
using api_test::job_id;
using api_test::Json;
using api_test::proof_path;
using api_test::share_path;

const char* const poll_paths[] = {"/v2/input-proof/", "/v2/public-decrypt/", "/v2/user-decrypt/",
                                  "/v2/delegated-user-decrypt/", "/v3/user-decrypt/"};

struct Post {
    const char* path;
    const char* file;
};
const Post posts[] = {{"/v2/input-proof", "input-proof-1-value.json"},
                      {"/v2/public-decrypt", "public-decrypt.json"},
                      {"/v2/user-decrypt", "user-decrypt.json"},
                      {"/v2/delegated-user-decrypt", "delegated-user-decrypt.json"},
                      {"/v3/user-decrypt", "user-decrypt-v3.json"}};

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string bare(std::string text) {
    std::erase(text, '-');
    return text;
}

TEST_CASE("1.1: unknown paths are 404, wrong methods 405 with Allow, both without an envelope") {
    struct Row {
        const char* method;
        std::string path;
        int status;
        const char* allow;
    };
    const std::string id = "/0197a7f0-0000-7000-8000-000000000001";
    const Row rows[] = {
        {"GET", "/", 404, ""},
        {"POST", "/v2/nothing", 404, ""},
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
        {"GET", proof_path + "/", 404, ""},
        {"GET", "//v2/input-proof" + id, 404, ""},
        {"GET", "/v2/%69nput-proof" + id, 404, ""},
        {"PATCH", "/v2/user-decrypt", 405, "POST"},
        {"HEAD", proof_path, 405, "POST"},
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
        const bool share = row.path == share_path;
        if (row.status >= 400 && !share) CHECK(answer.body.empty());
        CHECK_FALSE(answer.has("Retry-After"));
    }
    CHECK(harness.get(share_path).json ==
          Json{{"status", "error"}, {"error", "wrong method: send POST"}});
}

TEST_CASE("1.1: a job id may be spelt in every way of a UUID, in any letter case") {
    struct Row {
        const char* label;
        std::string spelling;
    };
    const Row rows[] = {
        {"hyphenated", job_id},
        {"upper case", upper(job_id)},
        {"mixed case", upper(job_id.substr(0, 9)) + job_id.substr(9)},
        {"32 bare hex digits", bare(job_id)},
        {"bare, upper case", upper(bare(job_id))},
        {"braced", "{" + job_id + "}"},
        {"braced, upper case", "{" + upper(job_id) + "}"},
        {"braces as percent codes", "%7B" + job_id + "%7d"},
        {"urn", "urn:uuid:" + job_id},
        {"urn, digits in upper case", "urn:uuid:" + upper(job_id)},
        {"colons as percent codes", "urn%3Auuid%3a" + job_id},
        {"a query behind it", job_id + "?x=1"},
    };
    Harness harness;
    harness.request_reader.outcome = engine::Pending{};
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(harness.get("/v2/input-proof/" + row.spelling).status == 202);
    }
}

TEST_CASE("1.1: a job id that is no UUID is a typed 400 that names job_id, on every poll route") {
    struct Row {
        const char* label;
        std::string id;
    };
    const Row rows[] = {
        {"words", "not-a-uuid"},
        {"one digit more", job_id + "0"},
        {"one digit less", job_id.substr(1)},
        {"no hex", "g" + job_id.substr(1)},
        {"hyphens elsewhere", bare(job_id).insert(4, "-").insert(9, "-")},
        {"an open brace", "{" + job_id},
        {"braced and bare", "{" + bare(job_id) + "-}"},
        {"urn of another kind", "urn:oid:" + job_id},
        {"NUL", "%00"},
        {"a lone percent sign", "%"},
        {"a number", "17"},
        {"0x", "0x" + bare(job_id)},
        {"very long", std::string(5'000, 'a')},
    };
    Harness harness;
    for (const char* path : poll_paths) {
        for (const Row& row : rows) {
            CAPTURE(path);
            CAPTURE(row.label);
            const Answer answer = harness.get(path + row.id);
            CHECK(answer.status == 400);
            CHECK(answer.json["status"] == "failed");
            CHECK(answer.label() == "request_error");
            CHECK(answer.message().starts_with("Invalid URL: Cannot parse"));
            CHECK(answer.message().find("job_id") != std::string::npos);
            CHECK_FALSE(answer.has("Retry-After"));
        }
    }
}

TEST_CASE("1.1: a UUID that is none of ours is not found") {
    Harness harness;
    for (const char* path : poll_paths) {
        for (const char* id : {"00000000-0000-4000-8000-000000000000",
                               "ffffffff-ffff-ffff-ffff-ffffffffffff", job_id.c_str()}) {
            CAPTURE(path);
            CAPTURE(id);
            const Answer answer = harness.get(std::string(path) + id);
            CHECK(answer.status == 404);
            CHECK(answer.label() == "not_found");
            CHECK(answer.message() == "Request not found");
        }
    }
}

TEST_CASE("1.1: bodies of 2 MiB are read, one byte more is a request_error and never 413") {
    Harness harness;
    for (const Post& post : posts) {
        CAPTURE(post.path);
        std::string body = api_test::sample(post.file);
        body.resize(2'097'152, ' ');
        CHECK(harness.post(post.path, body).status == 202);
        body.push_back(' ');
        const Answer answer = harness.post(post.path, body);
        CHECK(answer.status == 400);
        CHECK(answer.label() == "request_error");
        CHECK(answer.message() == "Failed to read request body");
        CHECK(answer.details().is_null());
    }
    CHECK(harness.submitter.requests.size() == 5);
}

TEST_CASE("1.1: answers with a body are JSON, and Retry-After is a positive whole number") {
    static const std::regex seconds("[1-9][0-9]*");
    Harness harness;
    for (const Post& post : posts) {
        CAPTURE(post.path);
        harness.request_reader.outcome = engine::Pending{};
        const Answer accepted = harness.post(post.path, api_test::sample(post.file));
        const Answer refused = harness.post(post.path, "{");
        CHECK(std::regex_match(accepted.header("Retry-After"), seconds));
        CHECK_FALSE(refused.has("Retry-After"));
        for (const Answer& answer : {accepted, refused}) {
            CHECK(answer.content_type == "application/json");
        }
    }
    for (const char* path : {"/liveness", "/healthz", "/version"}) {
        const Answer answer = harness.get(path);
        CHECK(answer.content_type == "application/json");
        CHECK_FALSE(answer.has("Retry-After"));
    }
}

}  // namespace
