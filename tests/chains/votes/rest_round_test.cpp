#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "chains/votes/rest_harness.hpp"

// What a chain says of rounds (share-helper 1.2).
namespace support {
namespace {

using chains::votes::RoundActive;
using chains::votes::RoundNotActive;

std::string round_body(const std::string& members) {
    return R"({"round":{)" + members + "}}";
}

std::string in_words(const engine::RoundAnswer& answer) {
    const auto* const round = std::get_if<engine::Round>(&answer);
    if (round == nullptr) return missing(answer);
    return std::to_string(domain::unix_ms(round->vote_end));
}

const std::string not_found = R"({"error":"vote round not found"})";

TEST_CASE("C1: a round is asked for by its id in hex, and vote_end_time is read") {
    RestHarness harness(200, round_body(R"("vote_end_time":1700000000,"status":1)"));
    CHECK(in_words(harness.chain.find(round_id)) == "1700000000000");
    REQUIRE(harness.stub.count() == 1);
    const StubRequest request = harness.stub.requests().front();
    CHECK(request.line() == "GET /shielded-vote/v1/round/" + round_hex);
    CHECK(request.head.find("Content-") == std::string::npos);
    CHECK(request.head.find("Accept: application/json\r\n") != std::string::npos);
    CHECK(!harness.chain.problem());
}

TEST_CASE("C2: a round answered with the chain's 404 is unknown; failures are named by status") {
    RestHarness unknown(404, R"({"error":"vote round not found"})");
    CHECK(in_words(unknown.chain.find(round_id)) == "unknown");
    CHECK(!unknown.chain.problem());
    RestHarness elsewhere(404, "404 page not found");
    CHECK(in_words(elsewhere.chain.find(round_id)) == "unreachable: HTTP 404");
    CHECK(elsewhere.chain.problem() == "HTTP 404");

    RestHarness failing(403, R"({"error":"not you"})");
    CHECK(in_words(failing.chain.find(round_id)) == "unreachable: HTTP 403: not you");
    CHECK(failing.chain.problem() == "HTTP 403: not you");
}

TEST_CASE("C3: a round answered with something that is no JSON can not be read") {
    RestHarness harness(200, "<html>hello</html>");
    CHECK(in_words(harness.chain.find(round_id)) == "unreachable: round: no JSON");
}

TEST_CASE("what a reply says of a round's end") {
    struct Row {
        const char* label;
        int status;
        std::string body;
        std::string expected;
    };
    const std::string no_number = "unreachable: round: vote_end_time is no whole number";
    const std::string none = "unreachable: round: none in answer";
    const std::vector<Row> rows{
        {"201", 201, round_body(R"("vote_end_time":1700000000)"), "1700000000000"},
        {"over, pending", 200, round_body(R"("vote_end_time":1,"status":4)"), "1000"},
        {"unknown as the chain has it", 500,
         R"({"error":"query failed (code 5): rpc error: vote round not found: key"})", "unknown"},
        {"another 500", 500, R"({"error":"context deadline exceeded"})",
         "unreachable: HTTP 500: context deadline exceeded"},
        {"500 without JSON", 500, "vote round not found", "unreachable: HTTP 500"},
        {"bad id", 400, R"({"error":"invalid round_id"})",
         "unreachable: HTTP 400: invalid round_id"},
        {"throttled", 429, "", "unreachable: HTTP 429"},
        {"redirect", 302, "", "unreachable: HTTP 302"},
        {"absent", 200, round_body(R"("status":1)"), "unreachable: round: no vote_end_time"},
        {"null", 200, round_body(R"("vote_end_time":null)"),
         "unreachable: round: no vote_end_time"},
        {"zero", 200, round_body(R"("vote_end_time":0)"), "unreachable: round: no vote_end_time"},
        {"text", 200, round_body(R"("vote_end_time":"1700000000")"), no_number},
        {"negative", 200, round_body(R"("vote_end_time":-5)"), no_number},
        {"fraction", 200, round_body(R"("vote_end_time":1700000000.5)"), no_number},
        {"beyond 64 bits", 200, round_body(R"("vote_end_time":18446744073709551616)"), no_number},
        {"last that fits", 200, round_body(R"("vote_end_time":253402300799)"), "253402300799000"},
        {"first that does not", 200, round_body(R"("vote_end_time":253402300800)"),
         "unreachable: round: vote_end_time out of range"},
        {"largest", 200, round_body(R"("vote_end_time":18446744073709551615)"),
         "unreachable: round: vote_end_time out of range"},
        {"no round", 200, "{}", none},
        {"null round", 200, R"({"round":null})", none},
        {"a list", 200, "[1]", none},
        {"empty", 200, "", "unreachable: round: no JSON"},
        {"another round", 200,
         round_body(R"("vote_end_time":1,"vote_round_id":")" + repeated("cd", 32) + "\""),
         "unreachable: round: answer is about another one"},
        {"its own id", 200,
         round_body(R"("vote_end_time":1,"vote_round_id":")" + repeated("q6ur", 10) + "q6s=\""),
         "1000"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RestHarness harness(row.status, row.body);
        CHECK(in_words(harness.chain.find(round_id)) == row.expected);
        CHECK(harness.chain.problem().has_value() == row.expected.starts_with("unreachable"));
    }
}

TEST_CASE("a round is active when its status is 1") {
    const auto status = [](const std::string& members) {
        RestHarness harness(200, round_body(members));
        const auto answer = harness.chain.round_status(round_id);
        if (std::holds_alternative<RoundActive>(answer)) return std::string("active");
        if (std::holds_alternative<RoundNotActive>(answer)) return std::string("not active");
        return missing(answer);
    };
    CHECK(status(R"("vote_end_time":9,"status":1)") == "active");
    for (const char* const other : {"0", "2", "3", "4", "99", "null"}) {
        CAPTURE(other);
        CHECK(status(R"("vote_end_time":9,"status":)" + std::string(other)) == "not active");
    }
    CHECK(status(R"("vote_end_time":9)") == "not active");
    CHECK(status(R"("status":"1")") == "unreachable: round: status is no number");

    RestHarness unknown(404, R"({"error":"vote round not found"})");
    CHECK(missing(unknown.chain.round_status(round_id)) == "unknown");
}

TEST_CASE("field 89: a 404 that is not the chain's says nothing of a round, a tree or a reveal") {
    struct Row {
        const char* label;
        std::string body;
        bool of_chain = false;
    };
    const std::vector<Row> rows{
        {"nothing", ""},
        {"Go's own", "404 page not found\n"},
        {"a proxy's page", "<html><h1>404 Not Found</h1></html>"},
        {"half a body of JSON", R"({"error":"vote round)"},
        {"text", R"("vote round not found")"},
        {"a list", R"([{"error":"vote round not found"}])"},
        {"an empty object", "{}"},
        {"another server's JSON", R"({"message":"no Route matched with those values"})"},
        {"an error that is no text", R"({"error":{"reason":"not found"}})"},
        {"a code in words", R"({"code":"NoSuchKey"})"},
        {"the chain's", R"({"error":"vote round not found"})", true},
        {"the chain's, of its gRPC gateway",
         R"({"code":5,"message":"vote round not found","details":[]})", true},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RestHarness harness(404, row.body);
        const auto is_answered = [&](const auto& answer) {
            return !std::holds_alternative<engine::Unreachable>(answer);
        };
        CHECK(is_answered(harness.chain.find(round_id)) == row.of_chain);
        CHECK(harness.chain.problem().has_value() != row.of_chain);
        CHECK(is_answered(harness.chain.round_status(round_id)) == row.of_chain);
        CHECK(is_answered(harness.chain.active_round()) == row.of_chain);
        CHECK(is_answered(harness.chain.latest(round_id)) == row.of_chain);
        CHECK(is_answered(harness.chain.reveal("{}")) == row.of_chain);
    }
}

TEST_CASE("the active round is found, and that there is none is no failure") {
    struct Row {
        const char* label;
        int status;
        std::string body;
        std::string expected;
    };
    const std::vector<Row> rows{
        {"base64", 200, round_body(R"("vote_round_id":")" + repeated("q6ur", 10) + "q6s=\""),
         round_hex},
        {"hex", 200, round_body(R"("vote_round_id":")" + repeated("AB", 32) + "\""), round_hex},
        {"none, newer chains", 200, R"({"round":null})", "unknown"},
        {"none at all", 200, "{}", "unknown"},
        {"none, 404", 404, R"({"error":"no active voting round"})", "unknown"},
        {"none, older chains", 500,
         R"({"error":"query failed (code 5): no active voting round: key not found"})", "unknown"},
        {"failure", 500, R"({"error":"other"})", "unreachable: HTTP 500: other"},
        {"no id", 200, round_body(R"("status":1)"), "unreachable: active round: no vote_round_id"},
        {"short id", 200, round_body(R"("vote_round_id":"abab")"),
         "unreachable: active round: no vote_round_id"},
        {"no JSON", 200, "x", "unreachable: active round: no JSON"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RestHarness harness(row.status, row.body);
        const auto answer = harness.chain.active_round();
        const auto* const found = std::get_if<domain::Bytes32>(&answer);
        CHECK((found == nullptr ? missing(answer) : domain::to_hex(*found)) == row.expected);
        CHECK(harness.stub.requests().front().line() == "GET /shielded-vote/v1/rounds/active");
    }
}

TEST_CASE("a base URL may have a path, a slash behind it and a query") {
    for (const char* const base :
         {"/chain", "/chain/", "/chain?key=secret", "/chain/?key=secret"}) {
        CAPTURE(base);
        RestHarness harness(
            HttpStub::answering([](const StubRequest&) { return http(404, not_found); }), ample,
            base);
        CHECK(missing(harness.chain.find(round_id)) == "unknown");
        const std::string query =
            std::string(base).find('?') == std::string::npos ? "" : "?key=secret";
        CHECK(harness.stub.requests().front().line() ==
              "GET /chain/shielded-vote/v1/round/" + round_hex + query);
    }
}

TEST_CASE("an answer about a round may have 1 MiB and has to come in time") {
    const std::string head = R"({"round":{"vote_end_time":7,"title":")";
    const auto padded = [&](std::size_t bytes) {
        const std::string tail = "\"}}";
        return head + std::string(bytes - head.size() - tail.size(), 'x') + tail;
    };
    RestHarness full(200, padded(1U << 20U));
    CHECK(in_words(full.chain.find(round_id)) == "7000");
    RestHarness over(200, padded((1U << 20U) + 1));
    CHECK(in_words(over.chain.find(round_id)) == "unreachable: answer too large");

    RestHarness silent(
        [](StubPeer& peer, const StubRequest&) {
            peer.hang();
            return false;
        },
        brief);
    CHECK(in_words(silent.chain.find(round_id)) == "unreachable: no answer in 200 ms");
    CHECK(silent.chain.problem() == "no answer in 200 ms");

    RestHarness cut(wire("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{\"round\":"));
    CHECK(in_words(cut.chain.find(round_id)) == "unreachable: connection broken");
    RestHarness foreign(wire("SSH-2.0-OpenSSH_9.2\r\n"));
    CHECK(in_words(foreign.chain.find(round_id)) == "unreachable: no HTTP");
}

TEST_CASE("a read is repeated when an idle connection turns out to be dead") {
    RestHarness harness([](StubPeer& peer, const StubRequest& request) {
        if (request.number != 2) peer.send(http(404, not_found));
        return request.number != 2;
    });
    CHECK(missing(harness.chain.find(round_id)) == "unknown");
    CHECK(missing(harness.chain.find(round_id)) == "unknown");
    CHECK(harness.stub.count() == 3);
    CHECK(harness.stub.connections() == 2);
}

TEST_CASE("a chain that asks to be left alone says for how long") {
    struct Row {
        int status;
        const char* fields;
        long hold_ms;
    };
    for (const Row& row : {Row{429, "", 1'000}, Row{429, "Retry-After: 7\r\n", 7'000},
                           Row{503, "Retry-After: 7\r\n", 7'000}, Row{503, "", 0},
                           Row{502, "Retry-After: 7\r\n", 0}}) {
        CAPTURE(row.status);
        CAPTURE(row.fields);
        RestHarness harness(HttpStub::answering(
            [&](const StubRequest&) { return http(row.status, "", row.fields); }));
        const auto answer = harness.chain.find(round_id);
        REQUIRE(std::holds_alternative<engine::Unreachable>(answer));
        CHECK(std::get<engine::Unreachable>(answer).hold.count() == row.hold_ms);
    }
}

TEST_CASE("reasons hold neither the URL nor its parts") {
    RestHarness harness(
        HttpStub::answering([](const StubRequest&) {
            return http(500, R"({"error":"Get \"http://10.1.2.3:26657/x\": hushhush\nat sesame"})");
        }),
        ample, "/hushhush/?key=sesame");
    const auto answer = harness.chain.find(round_id);
    CHECK(missing(answer) == "unreachable: HTTP 500: Get 'http://…': … at …");
    CHECK_THROWS_WITH_AS(
        chains::votes::rest::RestChain(vote_options("ftp://sesame"), harness.clock, nullptr),
        "no http or https URL", std::invalid_argument);
}

TEST_CASE("nobody listens") {
    VirtualClock clock;
    chains::votes::rest::RestChain chain(
        vote_options("http://127.0.0.1:" + std::to_string(deserted_port())), clock, nullptr);
    CHECK(missing(chain.find(round_id)) == "unreachable: connection refused");
    CHECK(chain.problem() == "connection refused");
}

TEST_CASE("stop ends a call under way and every later one, and is no trouble") {
    RestHarness harness([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    std::thread stopper([&] {
        CHECK(harness.stub.await(1));
        harness.chain.stop();
    });
    CHECK(missing(harness.chain.find(round_id)) == "unreachable: stopped");
    stopper.join();
    CHECK(missing(harness.chain.find(round_id)) == "unreachable: stopped");
    CHECK(missing(harness.chain.reveal("{}")) == "unreachable: stopped");
    CHECK(harness.replies.heard.empty());
    CHECK(!harness.chain.problem());
}

TEST_CASE("threads ask at once, each about its own round") {
    RestHarness harness(HttpStub::answering([](const StubRequest& request) {
        const std::string line = request.line();
        const auto id = domain::from_hex(line.substr(line.size() - 64));
        return http(200, round_body(R"("vote_end_time":)" + std::to_string(id->front())));
    }));
    std::vector<std::string> answers(8);
    std::vector<std::thread> threads;
    for (std::uint8_t place = 0; place < 8; ++place) {
        threads.emplace_back([&harness, &answer = answers[place], place] {
            for (int time = 0; time < 20; ++time) {
                answer +=
                    in_words(harness.chain.find(filled(static_cast<std::uint8_t>(place + 1)))) +
                    " ";
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t place = 0; place < 8; ++place) {
        CHECK(answers[place] == repeated(std::to_string(place + 1) + "000 ", 20));
    }
}

}  // namespace
}  // namespace support
