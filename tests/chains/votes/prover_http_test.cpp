#include <doctest/doctest.h>

#include <future>
#include <string>
#include <vector>

#include "chains/votes/prover_world.hpp"
#include "support/http_stub.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using namespace chains::votes::prover;
using support::HttpStub;
using support::Json;
using support::ProverWorld;

ProverOptions service(const std::string& url, std::string token = {}) {
    ProverOptions options;
    options.type = ProverType::http;
    options.url = url;
    options.token = std::move(token);
    options.timeout = std::chrono::seconds{10};
    return options;
}

const std::string proof = R"({"proof":"0a0b","share_nullifier":")" + std::string(64, 'c') + "\"}";

HttpStub::Script always(int status, const std::string& body, const std::string& fields = {}) {
    return HttpStub::answering(
        [=](const support::StubRequest&) { return support::http(status, body, fields); });
}

}  // namespace

TEST_CASE("a service gets the request as JSON with the token") {
    HttpStub stub{always(200, proof)};
    ProverWorld world{service(stub.url("127.0.0.1", "/prove?keys=2"), "t0ken")};
    const auto outcome = world.prover->prove(support::witness());
    REQUIRE(support::words(outcome) == "proved");
    CHECK(std::get<votes::prover::Proof>(outcome).bytes == domain::Bytes{0x0a, 0x0b});
    CHECK(world.prove() == "proved");
    CHECK(stub.connections() == 1);
    const support::StubRequest request = stub.requests().front();
    CHECK(request.head.starts_with("POST /prove?keys=2 HTTP/1.1\r\n"));
    CHECK(request.head.find("\r\nAuthorization: Bearer t0ken\r\n") != std::string::npos);
    CHECK(request.head.find("\r\nContent-Type: application/json\r\n") != std::string::npos);
    CHECK(request.body.at("c1") == domain::to_hex(support::witness().c1));
    CHECK(request.body.at("version") == 1);
    CHECK_FALSE(world.prover->problem());
}

TEST_CASE("without a token nothing is said about authorization") {
    HttpStub stub{always(200, proof)};
    ProverWorld world{service(stub.url())};
    CHECK(world.prove() == "proved");
    CHECK(stub.requests().front().head.find("Authorization") == std::string::npos);
}

TEST_CASE("a service that is not there costs no attempt, a bad answer does") {
    const std::string refused = R"({"error":{"code":-3,"message":"bad c1"}})";
    const std::string error =
        "not proved: prover error -3 (non-canonical field element or bad point): bad c1";
    struct Row {
        int status;
        std::string body;
        std::string outcome;
    };
    const std::vector<Row> rows{
        {200, refused, error},
        {422, refused, error},
        {200, "", "not proved: no usable answer of the prover: no answer"},
        {200, "<html>", "not proved: no usable answer of the prover: answer is no JSON object"},
        {200, std::string(70'000, ' '), "not proved: prover service: answer too large"},
        {201, proof, "not proved: prover service answered HTTP 201"},
        {302, "", "not proved: prover service answered HTTP 302"},
        {401, "no", "unreachable: prover service answered HTTP 401"},
        {403, "no", "unreachable: prover service answered HTTP 403"},
        {404, "no", "unreachable: prover service answered HTTP 404"},
        {500, proof, "not proved: prover service answered HTTP 500"},
        {429, proof, "unreachable: prover service answered HTTP 429"},
        {502, "", "unreachable: prover service answered HTTP 502"},
        {503, refused, "unreachable: prover service answered HTTP 503"},
        {504, "", "unreachable: prover service answered HTTP 504"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.outcome);
        HttpStub stub{always(row.status, row.body)};
        ProverWorld world{service(stub.url())};
        CHECK(world.prove() == row.outcome);
        CHECK(world.prover->problem() == row.outcome.substr(row.outcome.find(": ") + 2));
    }
}

TEST_CASE("a service that says back the token or parts of the URL tells nothing of them") {
    HttpStub stub{HttpStub::answering([](const support::StubRequest& request) {
        const Json error{{"code", -1}, {"message", "bad t0ken for k+9xyz, " + request.head}};
        return support::http(422, Json{{"error", error}}.dump());
    })};
    ProverWorld world{service(stub.url("127.0.0.1", "/k%2B9xyz"), "t0ken")};
    const std::string outcome = world.prove();
    CHECK(outcome.starts_with("not proved: prover error -1 (invalid inputs): bad … for …, POST"));
    CHECK(outcome.find("t0ken") == std::string::npos);
    CHECK(outcome.find("9xyz") == std::string::npos);
}

TEST_CASE("a service may say when to come again") {
    HttpStub stub{always(503, "", "Retry-After: 7\r\n")};
    ProverWorld world{service(stub.url())};
    const auto outcome = world.prover->prove(support::witness());
    CHECK(std::get<engine::Unreachable>(outcome).hold == std::chrono::seconds{7});
}

TEST_CASE("connections that fail cost no attempt, silence does") {
    ProverWorld deserted{
        service("http://127.0.0.1:" + std::to_string(support::deserted_port()) + "/")};
    CHECK(deserted.prove() == "unreachable: prover service: connection refused");

    HttpStub broken{[](support::StubPeer& peer, const support::StubRequest&) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Le");
        return false;
    }};
    CHECK(ProverWorld{service(broken.url())}.prove() ==
          "unreachable: prover service: connection broken");

    HttpStub silent{[](support::StubPeer& peer, const support::StubRequest&) {
        peer.hang();
        return false;
    }};
    ProverOptions impatient = service(silent.url());
    impatient.timeout = domain::Milliseconds{200};
    CHECK(ProverWorld{impatient}.prove() == "not proved: prover service: no answer in 200 ms");
}

TEST_CASE("a stop ends a question under way") {
    HttpStub silent{[](support::StubPeer& peer, const support::StubRequest&) {
        peer.hang();
        return false;
    }};
    ProverWorld world{service(silent.url())};
    auto outcome = std::async(std::launch::async, [&world] { return world.prove(); });
    REQUIRE(silent.await(1));
    world.prover->stop();
    CHECK(outcome.get() == "unreachable: stopped");
    CHECK(world.prove() == "unreachable: stopped");
    CHECK_FALSE(world.prover->problem());
}
