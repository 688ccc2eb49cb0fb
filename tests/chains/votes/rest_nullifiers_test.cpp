#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "chains/votes/rest/rest_nullifiers.hpp"
#include "chains/votes/rest_harness.hpp"

// A helper that is asked what is revealed (share-helper 1.5).
namespace support {
namespace {

using chains::votes::rest::RestNullifiers;

struct NullifierHarness {
    explicit NullifierHarness(HttpStub::Script script)
        : stub(std::move(script)), nullifiers(vote_options(stub.url()), clock) {}

    std::string find() {
        const auto answer = nullifiers.find(round_id, filled(0xc1));
        if (std::holds_alternative<engine::Revealed>(answer)) return "revealed";
        if (std::holds_alternative<engine::NotRevealed>(answer)) return "not revealed";
        return missing(answer);
    }

    VirtualClock clock;
    HttpStub stub;
    RestNullifiers nullifiers;
};

TEST_CASE("a share is revealed when the helper says confirmed") {
    struct Row {
        const char* label;
        int status;
        std::string body;
        std::string expected;
    };
    const std::string neither = "unreachable: share status: neither confirmed nor pending";
    const std::vector<Row> rows{
        {"confirmed", 200, R"({"status":"confirmed"})", "revealed"},
        {"pending", 200, R"({"status":"pending"})", "not revealed"},
        {"other", 200, R"({"status":"ok"})", neither},
        {"absent", 200, "{}", neither},
        {"null", 200, R"({"status":null})", neither},
        {"a list", 200, R"(["confirmed"])", neither},
        {"no JSON", 200, "confirmed", "unreachable: share status: no JSON"},
        {"not found", 404, R"({"status":"confirmed"})", "unreachable: HTTP 404"},
        {"unauthorized", 401, R"({"status":"error","error":"unauthorized"})",
         "unreachable: HTTP 401: unauthorized"},
        {"failed", 500, R"({"status":"error","error":"internal error"})",
         "unreachable: HTTP 500: internal error"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        NullifierHarness harness(
            HttpStub::answering([&](const StubRequest&) { return http(row.status, row.body); }));
        CHECK(harness.find() == row.expected);
        CHECK(harness.stub.requests().front().line() ==
              "GET /shielded-vote/v1/share-status/" + round_hex + "/" + repeated("c1", 32));
        const bool fails = row.expected.starts_with("unreachable");
        CHECK(harness.nullifiers.problem().has_value() == fails);
    }
}

TEST_CASE("a helper that is gone, and stop") {
    NullifierHarness cut(wire("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{"));
    CHECK(cut.find() == "unreachable: connection broken");

    NullifierHarness silent([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    std::thread stopper([&] {
        CHECK(silent.stub.await(1));
        silent.nullifiers.stop();
    });
    CHECK(silent.find() == "unreachable: stopped");
    stopper.join();
    CHECK(silent.find() == "unreachable: stopped");
    CHECK(!silent.nullifiers.problem());
    CHECK_THROWS_AS(RestNullifiers(vote_options(""), silent.clock), std::invalid_argument);
}

TEST_CASE("a token goes along when there is one, and nowhere else") {
    VirtualClock clock;
    std::vector<std::string> heads;
    const HttpStub stub(HttpStub::answering([&](const StubRequest& request) {
        heads.push_back(request.head);
        return http(200, R"({"status":"pending"})");
    }));
    chains::votes::Options options = vote_options(stub.url());
    options.nullifier_token = "sesame";
    RestNullifiers with_token(options, clock);
    CHECK(std::holds_alternative<engine::NotRevealed>(with_token.find(round_id, filled(1))));
    options.nullifier_token.clear();
    RestNullifiers without(options, clock);
    CHECK(std::holds_alternative<engine::NotRevealed>(without.find(round_id, filled(1))));
    REQUIRE(heads.size() == 2);
    CHECK(heads[0].find("X-Helper-Token: sesame\r\n") != std::string::npos);
    CHECK(heads[1].find("X-Helper-Token") == std::string::npos);
}

TEST_CASE("a helper that says back what it was sent tells nothing of it") {
    VirtualClock clock;
    const HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        return http(401, Json{{"error", "bad " + request.head + " KEY+abc"}}.dump());
    }));
    chains::votes::Options options = vote_options(stub.url("u:k3y@127.0.0.1", "/KEY%2Babc"));
    options.nullifier_token = "sesame";
    RestNullifiers nullifiers(options, clock);
    const std::string said = missing(nullifiers.find(round_id, filled(1)));
    CHECK(said.find("bad GET") != std::string::npos);
    for (const char* const secret : {"sesame", "KEY", "abc", "k3y", "dTprM3k"}) {
        CAPTURE(secret);
        CHECK(said.find(secret) == std::string::npos);
    }
}

}  // namespace
}  // namespace support
