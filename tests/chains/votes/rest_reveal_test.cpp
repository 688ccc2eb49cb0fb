#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "chains/votes/rest/rest_reveal.hpp"
#include "chains/votes/rest_harness.hpp"

// What becomes of a reveal (share-helper 5.3).
namespace support {
namespace {

using chains::votes::NotRevealedNow;
using chains::votes::RevealOutcome;

const std::string share = R"({"proposal_id":3})";

std::string in_words(const RevealOutcome& outcome) {
    if (const auto* const revealed = std::get_if<domain::ShareRevealed>(&outcome)) {
        return (revealed->already ? "already revealed " : "revealed ") + revealed->tx_hash;
    }
    if (const auto* const refused = std::get_if<NotRevealedNow>(&outcome)) {
        return "refused: " + refused->text;
    }
    return missing(outcome);
}

struct Row {
    const char* label;
    int status;
    std::string body;
    std::string expected;
    std::optional<std::int64_t> code{};  // that is heard of
    bool is_problem = false;
};

void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        CAPTURE(row.label);
        RestHarness harness(row.status, row.body);
        CHECK(in_words(harness.chain.reveal(share)) == row.expected);
        REQUIRE(harness.replies.heard.size() == 1);
        CHECK(harness.replies.heard.front() == HeardReplies::Heard{row.status, row.code});
        CHECK(harness.chain.problem().has_value() == row.is_problem);
        CHECK(harness.stub.count() == 1);
    }
}

TEST_CASE("a reveal is posted as it is") {
    RestHarness harness(HttpStub::answering([](const StubRequest&) {
                            return http(200, R"({"tx_hash":"9F3C0A","code":0,"log":""})");
                        }),
                        ample, "/chain/");
    CHECK(in_words(harness.chain.reveal(share)) == "revealed 9F3C0A");
    const StubRequest request = harness.stub.requests().front();
    CHECK(request.line() == "POST /chain/shielded-vote/v1/reveal-share");
    CHECK(request.head.find("Content-Type: application/json\r\n") != std::string::npos);
    CHECK(request.body == Json::parse(share));
}

TEST_CASE("C4: code 2 is a duplicate; 0, 3 and 4 are not") {
    CHECK(chains::votes::rest::is_already_revealed(2));
    for (const std::int64_t code : {0, 3, 4})
        CHECK(!chains::votes::rest::is_already_revealed(code));
}

TEST_CASE("a reply with 200 or 422 is read by its code") {
    check({
        {"accepted", 200, R"({"tx_hash":"9F3C0A","code":0})", "revealed 9F3C0A", 0},
        {"accepted without hash", 200, R"({"code":0,"log":"tx already exists"})", "revealed ", 0},
        {"hash of another type", 200, R"({"code":0,"tx_hash":5})", "revealed ", 0},
        {"hash that is no word", 200, R"({"code":0,"tx_hash":"<b>"})", "revealed ", 0},
        {"hash too long", 200, R"({"code":0,"tx_hash":")" + std::string(129, 'A') + "\"}",
         "revealed ", 0},
        {"duplicate with 200", 200, R"({"tx_hash":"0A","code":2,"log":"spent"})",
         "already revealed 0A", 2},
        {"invalid proof", 422, R"({"code":5,"log":"no"})",
         "refused: HTTP 422, code 5 (invalid proof): no", 5},
        {"bad anchor height", 422, R"({"code":7})", "refused: HTTP 422, code 7 (bad anchor height)",
         7},
        {"bad field", 422, R"({"code":9})", "refused: HTTP 422, code 9 (bad field)", 9},
        {"code without a name", 422, R"({"code":1234,"log":7})", "refused: HTTP 422, code 1234",
         1234},
        {"negative code", 200, R"({"code":-1})", "refused: HTTP 200, code -1", -1},
    });
}

TEST_CASE("a round the chain does not know as active is no answer about the share") {
    check({
        {"round not found", 422, R"({"code":3})", "unreachable: HTTP 422, code 3 (round not found)",
         3},
        {"round not active", 200, R"({"code":4,"log":"status is TALLYING"})",
         "unreachable: HTTP 200, code 4 (round not active): status is TALLYING", 4},
        {"3 of the votes", 422, R"({"code":3,"codespace":"vote"})",
         "unreachable: HTTP 422, code 3 (round not found)", 3},
        {"3 of sdk", 422, R"({"code":3,"codespace":"sdk"})", "refused: HTTP 422, code 3 of sdk", 3},
        {"4 of sdk", 422, R"({"code":4,"codespace":"sdk","log":"unauthorized"})",
         "refused: HTTP 422, code 4 of sdk: unauthorized", 4},
    });
}

TEST_CASE("a mempool that is full, or holds the reveal, says nothing about the share") {
    check({
        {"full", 422, R"({"code":20,"codespace":"sdk","log":"mempool is full: 5000 of 5000"})",
         "unreachable: HTTP 422, code 20 of sdk: mempool is full: 5000 of 5000", 20},
        {"there already", 200, R"({"code":19,"codespace":"sdk","log":"tx already in mempool"})",
         "unreachable: HTTP 200, code 19 of sdk: tx already in mempool", 19},
        {"20 of the votes", 422, R"({"code":20,"codespace":"vote"})", "refused: HTTP 422, code 20",
         20},
        {"20 of nobody", 422, R"({"code":20})", "refused: HTTP 422, code 20", 20},
        {"21 of sdk", 422, R"({"code":21,"codespace":"sdk"})", "refused: HTTP 422, code 21 of sdk",
         21},
    });
}

TEST_CASE("field report 25: a duplicate is a success, and 422 with another code never is one") {
    check({
        {"(c) duplicate nullifier", 422, R"({"tx_hash":"","code":2,"log":"already spent"})",
         "already revealed ", 2},
        {"(d) refused", 422, R"({"tx_hash":"9F3C0A","code":5,"log":"invalid"})",
         "refused: HTTP 422, code 5 (invalid proof): invalid", 5},
        {"code 0 with 422", 422, R"({"tx_hash":"9F3C0A","code":0})", "refused: HTTP 422, code 0",
         0},
    });
}

TEST_CASE("field 89: a code of another code space, or with another log, is none of the votes'") {
    const auto reply = [](std::int64_t code, const char* codespace, const char* log) {
        Json json{{"tx_hash", ""}, {"code", code}};
        if (codespace != nullptr) json["codespace"] = codespace;
        if (log != nullptr) json["log"] = log;
        return json.dump();
    };
    const std::string refused = "refused: HTTP 422, code 2";
    check({
        {"the report's", 422, reply(2, "sdk", "tx parse error: unknown field"),
         refused + " of sdk: tx parse error: unknown field", 2},
        {"no log", 422, reply(2, "sdk", nullptr), refused + " of sdk", 2},
        {"a log that fits by chance", 422, reply(2, "bank", "nullifier already spent"),
         refused + " of bank: nullifier already spent", 2},
        {"case counts", 422, reply(2, "Vote", ""), refused + " of Vote", 2},
        {"no space, another log", 422, reply(2, nullptr, "tx parse error: unknown field"),
         refused + ": tx parse error: unknown field", 2},
        {"an empty space, another log", 422, reply(2, "", "errUnknownField: share_nullifier"),
         refused + ": errUnknownField: share_nullifier", 2},
        {"the votes' space, another log", 422, reply(2, "vote", "panic: out of gas"),
         refused + ": panic: out of gas", 2},
        {"200 as well", 200, reply(2, "sdk", ""), "refused: HTTP 200, code 2 of sdk", 2},

        {"the votes'", 422, reply(2, "vote", "nullifier already spent"), "already revealed ", 2},
        {"the votes', no log", 422, reply(2, "vote", ""), "already revealed ", 2},
        {"neither", 422, reply(2, nullptr, nullptr), "already revealed ", 2},
        {"a space that is no text", 422, R"({"code":2,"codespace":7,"log":null})",
         "already revealed ", 2},
        {"wrapped", 422, reply(2, nullptr, "reveal: ab12: Nullifier already used"),
         "already revealed ", 2},
        {"duplicate", 422, reply(2, nullptr, "duplicate nullifier"), "already revealed ", 2},

        // Names of other codes are the votes' too.
        {"5 of sdk", 422, reply(5, "sdk", "insufficient funds"),
         "refused: HTTP 422, code 5 of sdk: insufficient funds", 5},
        {"5 of the votes", 422, reply(5, "vote", "no"),
         "refused: HTTP 422, code 5 (invalid proof): no", 5},
        {"a space of many lines", 422, reply(5, "a\nb http://node.example/?key=1", ""),
         "refused: HTTP 422, code 5 of a b http://…", 5},
    });
}

TEST_CASE("further: 422 without code is a failure") {
    check({
        {"422", 422, R"({"tx_hash":"9F3C0A","log":""})", "refused: HTTP 422, no code", {}, true},
        {"200", 200, R"({"tx_hash":"9F3C0A","log":""})", "refused: HTTP 200, no code", {}, true},
        {"null", 200, R"({"code":null})", "refused: HTTP 200, no code", {}, true},
        {"text", 200, R"({"code":"0"})", "refused: HTTP 200, no code", {}, true},
        {"fraction", 200, R"({"code":0.0})", "refused: HTTP 200, no code", {}, true},
        {"beyond 63 bits",
         200,
         R"({"code":9223372036854775808})",
         "refused: HTTP 200, no code",
         {},
         true},
        {"twice", 200, R"({"code":0,"code":5})", "refused: HTTP 200, no JSON", {}, true},
        {"a list", 200, R"([{"code":0}])", "refused: HTTP 200, no code", {}, true},
        {"no JSON", 200, "OK", "refused: HTTP 200, no JSON", {}, true},
        {"422 without JSON", 422, "{", "refused: HTTP 422, no JSON", {}, true},
        {"empty", 200, "", "refused: HTTP 200, no JSON", {}, true},
    });
}

TEST_CASE("any other status is a failure, whatever the code says") {
    check({
        {"201", 201, R"({"code":0})", "refused: HTTP 201", 0},
        {"202", 202, R"({"code":0})", "refused: HTTP 202", 0},
        {"204", 204, "", "refused: HTTP 204"},
        {"301", 301, "", "refused: HTTP 301"},
        {"400", 400, R"({"error":"validation failed: proof"})",
         "refused: HTTP 400: validation failed: proof"},
        {"404", 404, R"({"code":2})", "refused: HTTP 404", 2},
        {"404 in words", 404, R"({"error":"not found"})", "refused: HTTP 404: not found"},
        {"500", 500, R"({"error":"encode failed"})", "refused: HTTP 500: encode failed", {}, true},
    });
}

TEST_CASE("a status that says the chain can not be reached is no answer of the chain") {
    check({{"404 of somebody else", 404, "<html>", "unreachable: HTTP 404", {}, true}});
    for (const int status : {429, 502, 503, 504}) {
        const std::string name = "unreachable: HTTP " + std::to_string(status);
        check({{"code 2", status, R"({"code":2})", name, 2, true},
               {"HTML", status, "<html>", name, {}, true},
               {"in words",
                status,
                R"({"error":"mempool is full"})",
                name + ": mempool is full",
                {},
                true}});
    }
    RestHarness waiting(HttpStub::answering(
        [](const StubRequest&) { return http(503, "", "Retry-After: 30\r\n"); }));
    const auto outcome = waiting.chain.reveal(share);
    REQUIRE(std::holds_alternative<engine::Unreachable>(outcome));
    CHECK(std::get<engine::Unreachable>(outcome).hold.count() == 30'000);
}

TEST_CASE("a log is cut, put on one line and has no URLs") {
    const auto text_for = [](const std::string& log) {
        RestHarness harness(422, Json{{"code", 5}, {"log", log}}.dump());
        return in_words(harness.chain.reveal(share));
    };
    const std::string begin = "refused: HTTP 422, code 5 (invalid proof): ";
    CHECK(text_for("a\nb\x1b[31m http://node.example/secret?k=1") == begin + "a b [31m http://…");
    CHECK(text_for(std::string(5'000, '!')) == begin + std::string(200, '!'));
    CHECK(text_for("café") == begin + "caf??");
}

TEST_CASE("a chain that says back what it was sent tells no log of it") {
    for (const std::string said :
         {"c1=HzERNO/h+Y1angSbQtfHPD+dglq+MxnhbiHPpl+jaDc=", "1F311134EFE1F98D5A9E049B42D7C73C",
          "[31, 49, 17, 52, 239, 225, 249, 141, 90, 158]"}) {
        CAPTURE(said);
        RestHarness harness(422, Json{{"code", 5}, {"log", "not so: " + said}}.dump());
        CHECK(in_words(harness.chain.reveal(share))
                  .starts_with("refused: HTTP 422, code 5 (invalid proof): not so:"));
        CHECK(in_words(harness.chain.reveal(share)).size() < 70);
    }
}

TEST_CASE("an answer that is cut off leaves the outcome open, one that is none does not") {
    struct Wire {
        const char* label;
        std::string bytes;
        std::string expected;
    };
    const std::string length = "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n";
    const std::string too_long = R"({"code":0,"log":")" + std::string(1U << 20U, 'x') + "\"}";
    for (const Wire& row : std::vector<Wire>{
             {"nothing", "", "unreachable: connection broken"},
             {"half a head", "HTTP/1.1 200 OK\r\nConte", "unreachable: connection broken"},
             {"half a body", length + R"({"code":0,)", "unreachable: connection broken"},
             {"a whole object, but not a whole body", length + R"({"code":0})",
              "unreachable: connection broken"},
             {"until the end", "HTTP/1.0 200 OK\r\n\r\n{\"code\":0", "refused: HTTP 200, no JSON"},
             {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", "refused: no HTTP"},
             {"too large", http(200, too_long), "refused: answer too large"},
         }) {
        CAPTURE(row.label);
        RestHarness harness(wire(row.bytes));
        CHECK(in_words(harness.chain.reveal(share)) == row.expected);
        REQUIRE(harness.replies.heard.size() == 1);
        CHECK(harness.chain.problem().has_value());
        CHECK(harness.stub.count() == 1);
    }
}

TEST_CASE("refused and timed out: unreachable, and heard of as no answer") {
    HeardReplies replies;
    VirtualClock clock;
    chains::votes::rest::RestChain chain(
        vote_options("http://127.0.0.1:" + std::to_string(deserted_port())), clock, &replies);
    CHECK(in_words(chain.reveal(share)) == "unreachable: connection refused");
    CHECK(replies.heard == std::vector{HeardReplies::Heard{0, std::nullopt}});

    RestHarness dripping(
        [](StubPeer& peer, const StubRequest&) {
            peer.drip(repeated("HTTP/1.1 100 Continue\r\n\r\n", 100));
            return false;
        },
        brief);
    CHECK(in_words(dripping.chain.reveal(share)) == "unreachable: no answer in 200 ms");
    CHECK(dripping.replies.heard == std::vector{HeardReplies::Heard{0, std::nullopt}});
    CHECK(dripping.chain.problem() == "no answer in 200 ms");
}

TEST_CASE("a reveal is sent again when the idle connection ended before an answer, and only then") {
    // What the second request on a connection gets.
    const auto reveal_twice = [](const std::string& second) {
        RestHarness harness([&](StubPeer& peer, const StubRequest& request) {
            peer.send(request.number == 2 ? second : http(200, R"({"code":0})"));
            return request.number != 2;
        });
        CHECK(in_words(harness.chain.reveal(share)) == "revealed ");
        const std::string outcome = in_words(harness.chain.reveal(share));
        return outcome + "after " + std::to_string(harness.stub.count());
    };
    CHECK(reveal_twice("") == "revealed after 3");
    CHECK(reveal_twice("HTTP") == "unreachable: connection brokenafter 2");
}

TEST_CASE("without an observer nobody hears") {
    RestHarness harness(200, R"({"code":0})");
    chains::votes::rest::RestChain chain(vote_options(harness.stub.url()), harness.clock, nullptr);
    CHECK(in_words(chain.reveal(share)) == "revealed ");
    CHECK(harness.replies.heard.empty());
}

}  // namespace
}  // namespace support
