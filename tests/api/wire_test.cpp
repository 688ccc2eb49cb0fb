// The application behind the real HTTP server: what only shows on a socket.

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/http_server.hpp"
#include "api/raw_client.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Json;

struct Service {
    Service() { server.start(); }

    // Each on a connection of its own: refusals before the body close it.
    api::RawAnswer ask(const std::string& bytes, bool without_body = false) {
        api::RawClient client(server.port());
        client.send(bytes);
        return client.answer(without_body).value();
    }

    api_test::Harness harness;
    api::HttpServer server{{.port = 0, .workers = 2}, harness.app};
};

std::string post(std::string_view path, std::string_view headers, std::string_view body) {
    return std::string("POST ")
        .append(path)
        .append(" HTTP/1.1\r\nHost: x\r\nContent-Length: ")
        .append(std::to_string(body.size()))
        .append("\r\n")
        .append(headers)
        .append("\r\n")
        .append(body);
}

constexpr std::string_view json = "Content-Type: application/json\r\n";
constexpr std::string_view form = "Content-Type: application/x-www-form-urlencoded\r\n";
constexpr std::string_view share_path = "/shielded-vote/v1/shares";

TEST_CASE("an input proof comes in and its job is found") {
    Service service;
    const api::RawAnswer accepted =
        service.ask(post("/v2/input-proof", json, api_test::sample("input-proof-1-value.json")));
    CHECK(accepted.status == 202);
    CHECK(accepted.has("Retry-After: 3\r\n"));
    CHECK(accepted.has("Content-Type: application/json\r\n"));
    const std::string job_id = Json::parse(accepted.body)["job_id"];

    service.harness.inquiry.outcome = engine::Pending{};
    const api::RawAnswer pending =
        service.ask("GET /v2/input-proof/" + job_id + "?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(pending.status == 202);
    CHECK(service.ask("HEAD /liveness HTTP/1.1\r\nHost: x\r\n\r\n", true).status == 200);
}

TEST_CASE("bodies that are not read are refused with the fix, never with 413") {
    const std::string proof = api_test::sample("input-proof-1-value.json");
    const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    const std::string start = " HTTP/1.1\r\nHost: x\r\n";
    Service service;
    struct Row {
        std::string bytes;
        int status;
        std::string_view text;
    };
    const Row rows[] = {
        {post("/v2/input-proof", form, proof), 400, "send Content-Type: application/json"},
        {post("/v2/input-proof", "", proof), 400, "send Content-Type: application/json"},
        {post(share_path, form, proof), 415, "send Content-Type: application/json"},
        {"POST /v2/input-proof" + start + std::string(json) + chunked, 400, "Content-Length"},
        {"POST /shielded-vote/v1/shares" + start + chunked, 411, "Content-Length"},
        {post("/v2/input-proof", std::string(json) + "Content-Encoding: gzip\r\n", "x"), 400,
         "uncompressed"},
        {"POST /v2/input-proof" + start + std::string(json) + "Content-Length: 2097153\r\n\r\n",
         400, "Failed to read request body"},
        {"POST /shielded-vote/v1/shares" + start + "Content-Length: 1048577\r\n\r\n", 400,
         "invalid JSON:"},
        {"POST /nowhere" + start + "Content-Length: 5\r\n\r\n", 404, ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.bytes.substr(0, 200));
        const api::RawAnswer answer = service.ask(row.bytes);
        CHECK(answer.status == row.status);
        CHECK(answer.body.find(row.text) != std::string::npos);
    }
}

}  // namespace
