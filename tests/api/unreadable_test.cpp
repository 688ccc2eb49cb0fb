// Requests that can not be read, and bodies that are not: what the socket shows of them
// (relayer-api 1.1, 1.3 step 2; field reports 58, 59, 65).

#include <chrono>
#include <sstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Call;
using api_test::Harness;
using api_test::proof_path;
using api_test::share_path;

const std::string json = "Content-Type: application/json\r\n";

std::string start(const std::string& path) {
    return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + json;
}

struct Problem {
    const char* label;
    std::string rest;  // what follows the Content-Type header
    bool ends = false;
    int relayer = 400;
    const char* relayer_label = "request_error";
    int share = 400;
};

void check_relayer(const Answer& answer, const Problem& row) {
    CHECK(answer.status == row.relayer);
    CHECK(answer.json["status"] == "failed");
    CHECK(answer.json["requestId"].get<std::string>().size() == 36);
    CHECK(answer.label() == row.relayer_label);
    CHECK_FALSE(answer.message().empty());
    CHECK(answer.header("Retry-After") == (row.relayer == 503 ? "4" : ""));
    CHECK(answer.header("Connection") == "close");
}

void check_share(const Answer& answer, const Problem& row) {
    CHECK(answer.status == row.share);
    CHECK(answer.json["status"] == "error");
    CHECK_FALSE(answer.json["error"].get<std::string>().empty());
    CHECK(answer.header("Retry-After") == (row.share == 503 ? "4" : ""));
    CHECK(answer.header("Connection") == "close");
}

TEST_CASE("requests that can not be read are answered in the shape of their API") {
    const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
    const std::string coded = "Transfer-Encoding: gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
    std::string many;
    for (int i = 0; i < 120; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
    const Problem rows[] = {
        {"a header without a colon", "nonsense\r\n\r\n"},
        {"a second Host", "Host: y\r\n\r\n"},
        {"a length that is no number", "Content-Length: two\r\n\r\n"},
        {"a negative length", "Content-Length: -1\r\n\r\n"},
        {"two lengths", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"},
        {"too many headers", many + "\r\n", false, 431, "request_error", 431},
        {"an expectation", "Expect: miracles\r\n\r\n", false, 417, "request_error", 417},
        {"another coding than chunks", coded, false, 400, "request_error", 411},
        {"chunks and a length", "Content-Length: 5\r\n" + chunked + "0\r\n\r\n"},
        {"a chunk without a size", chunked + "x\r\n{}\r\n0\r\n\r\n"},
        {"chunks that are too large", chunked + "200001\r\n{}"},
        {"chunks cut short", chunked + "2\r\n{}", true},
        {"gzip", "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx", false, 400,
         "request_error", 415},
        {"too large", "Content-Length: 2097153\r\n\r\n"},
        {"beyond any number", "Content-Length: 99999999999999999999999\r\n\r\n"},
        {"cut short", "Content-Length: 10\r\n\r\n{}", true},
    };
    Harness harness;
    for (const Problem& row : rows) {
        CAPTURE(row.label);
        check_relayer(harness.exchange(start(proof_path) + row.rest, row.ends), row);
        check_share(harness.exchange(start(share_path) + row.rest, row.ends), row);
    }
    CHECK(harness.get("/liveness").status == 200);
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("a request line that can not be read is a typed 400, whatever it was for") {
    Harness harness;
    for (const char* line : {"garbage", "GET  HTTP/1.1", "GET /v2/input-proof",
                             "P\x01ST / HTTP/1.1", "GET v2 HTTP/1.1", "GET /\x7f HTTP/1.1"}) {
        CAPTURE(line);
        const Answer answer = harness.exchange(std::string(line) + "\r\nHost: x\r\n\r\n");
        CHECK(answer.status == 400);
        CHECK(answer.label() == "request_error");
    }
    CHECK(harness.exchange("GET /liveness HTTP/2.0\r\nHost: x\r\n\r\n").status == 505);
}

TEST_CASE("a head without end is cut off typed, at its limit") {
    Harness harness({}, {.head_bytes_max = 8'192});
    const std::string endless = "X-Long: " + std::string(9'000, 'a');
    const Problem row{"endless header", "", false, 431, "request_error", 431};
    check_relayer(harness.exchange(start(proof_path) + endless), row);
    check_share(harness.exchange(start(share_path) + endless), row);
}

TEST_CASE("a request that is too slow, and one too many, are told so") {
    const std::string unfinished = "Content-Length: 100\r\n\r\n{";
    Harness slow({}, {.request_deadline = std::chrono::milliseconds(60)});
    const Problem deadline{"deadline", "", false, 400, "request_error", 408};
    check_relayer(slow.exchange(start(proof_path) + unfinished), deadline);
    check_share(slow.exchange(start(share_path) + unfinished), deadline);

    Harness busy({}, {.buffered_bytes_max = 1});
    const std::string large = "Content-Length: 60000\r\n\r\n" + std::string(30'000, 'x');
    const Problem overloaded{"overloaded", "", false, 503, "gateway_not_reachable", 503};
    check_relayer(busy.exchange(start(proof_path) + large), overloaded);
    check_share(busy.exchange(start(share_path) + large), overloaded);
    REQUIRE(busy.logger.count("requests_overloaded") == 1);  // throttled
    CHECK(busy.logger.count("reason=\"requests that arrive fill http.buffered_bytes_max\"") == 1);
}

TEST_CASE("field 98: a stalled upload has a receipt for who sent one good token, nobody else") {
    const std::string token(64, 'a');
    const auto header = [](const std::string& value, const std::string& name) {
        return name + ": " + value + "\r\n";
    };
    const std::string name = "X-Vote-Ingress-Attempt-V1";
    const std::string stalled = "Content-Length: 5000\r\n\r\n{";
    const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n4\r\n{\"a\r\n";
    struct Row {
        std::string label;
        std::string path;
        std::string rest;
        bool has_receipt = false;
        bool ends = false;
        int status = 408;
    };
    const Row rows[] = {
        {"one", share_path, header(token, name) + stalled, true},
        {"in another case of its name", share_path,
         header(token, "x-vote-INGRESS-attempt-v1") + stalled, true},
        {"digits and letters", share_path,
         header(std::string(32, '0') + std::string(32, 'f'), name) + stalled, true},
        {"chunked", share_path, header(token, name) + chunked, true},
        {"none", share_path, stalled},
        {"two", share_path, header(token, name) + header(token, name) + stalled},
        {"two, one bad", share_path, header(token, name) + header("x", name) + stalled},
        {"upper case", share_path, header(std::string(64, 'A'), name) + stalled},
        {"short", share_path, header("bad", name) + stalled},
        {"long", share_path, header(token + "a", name) + stalled},
        {"no hex", share_path, header(std::string(64, 'z'), name) + stalled},
        {"empty", share_path, header("", name) + stalled},
        {"two in one", share_path, header(token + ", " + token, name) + stalled},
        {"a connection that is cut", share_path, header(token, name) + stalled, false, true, 400},
        {"a body that is no chunk", share_path,
         header(token, name) + "Transfer-Encoding: chunked\r\n\r\nx\r\n{}\r\n0\r\n\r\n", false,
         false, 400},
        {"a body that is too large", share_path,
         header(token, name) + "Content-Length: 1048577\r\n\r\n", false, false, 400},
        {"no share", "/shielded-vote/v1/status", header(token, name) + stalled, false, false, 405},
        {"a request of the relayer", proof_path, header(token, name) + stalled, false, false, 400},
    };
    Harness harness({}, {.request_deadline = std::chrono::milliseconds(60)});
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Answer answer = harness.exchange(start(row.path) + row.rest, row.ends);
        CHECK(answer.status == row.status);
        CHECK(answer.header("Cache-Control") == (row.has_receipt ? "no-store" : ""));
        CHECK((answer.body.find("not_started") != std::string::npos) == row.has_receipt);
        if (!row.has_receipt) continue;
        CHECK(answer.header("Content-Type") == "application/json");
        const auto& error = answer.json["error"];
        CHECK(error["version"] == 1);
        CHECK(error["code"] == "request_body_timeout");
        CHECK(error["dispatch"] == "not_started");
        CHECK(error["attempt"].get<std::string>().size() == 64);
        CHECK(answer.json.size() == 1);
    }
    CHECK(harness.submitter.requests.empty());
}

TEST_CASE("field 97: a share may come in chunks, under the limit of its bytes") {
    const auto in_chunks = [](const std::string& body) {
        std::string text =
            start(share_path) + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
        constexpr std::size_t most = 1'000;
        for (std::size_t at = 0; at < body.size(); at += most) {
            const std::string piece = body.substr(at, most);
            std::ostringstream size;
            size << std::hex << piece.size();
            text += size.str() + "\r\n" + piece + "\r\n";
        }
        return text + "0\r\n\r\n";
    };
    Harness harness;
    const std::string share = api_test::sample("vote-share.json");
    const Answer taken = harness.exchange(in_chunks(share));
    CHECK(taken.status == 200);
    CHECK(taken.json["status"] == "queued");
    CHECK(harness.submitter.requests.size() == 1);
    const Answer full =
        harness.exchange(in_chunks(share + std::string((1U << 20U) - share.size(), ' ')));
    CHECK(full.status == 200);
    const Answer over =
        harness.exchange(in_chunks(share + std::string((1U << 20U) + 1 - share.size(), ' ')));
    CHECK(over.status == 400);
    CHECK(over.json["error"].get<std::string>().starts_with("invalid JSON:"));
    CHECK(harness.submitter.requests.size() == 2);
}

TEST_CASE("every failure to read a body begins with the words of the reference (1.1)") {
    const std::string unfinished = start(proof_path) + "Content-Length: 100\r\n\r\n{";
    Harness harness;
    const std::string words = "Failed to read request body";
    CHECK(harness.exchange(unfinished, true).message().starts_with(words));
    CHECK(harness.exchange(start(proof_path) + "Content-Length: 2097153\r\n\r\n").message() ==
          words);
    const std::string chunked = start(proof_path) + "Transfer-Encoding: chunked\r\n\r\n";
    CHECK(harness.exchange(chunked + "bytes\r\n").message().starts_with(words));
    CHECK(harness.exchange(chunked + "5\r\nhel", true).message().starts_with(words));
    CHECK(harness.exchange(start(proof_path) + "Transfer-Encoding: gzip\r\n\r\n")
              .message()
              .starts_with(words));
}

TEST_CASE("bodies that are not read are refused with the fix, never with 413 (field report 65)") {
    const std::string proof = api_test::sample("input-proof-1-value.json");  // 37 kB
    const std::pair<std::string, std::string> form{"Content-Type",
                                                   "application/x-www-form-urlencoded"};
    const std::pair<std::string, std::string> origin{"Origin", "https://dapp.example"};
    const std::pair<std::string, std::string> is_json{"Content-Type", "application/json"};
    struct Row {
        const char* label;
        Call call;
        int status;
        std::string_view text;
    };
    const Row rows[] = {
        {"a form in a browser, relayer",
         {"POST", proof_path, proof, {form, origin}},
         400,
         "send Content-Type: application/json"},
        {"no type in a browser, relayer",
         {"POST", proof_path, proof, {origin}},
         400,
         "send Content-Type: application/json"},
        {"curl -d, relayer", {"POST", proof_path, proof, {form}}, 202, "queued"},
        {"no type, relayer", {"POST", proof_path, proof, {}}, 202, "queued"},
        {"curl -d, shares", {"POST", share_path, proof, {form}}, 400, "shares_hash"},
        {"gzip, shares",
         {"POST", share_path, "x", {{"Content-Encoding", "gzip"}}},
         415,
         "uncompressed"},
        {"chunks",
         {"POST",
          proof_path,
          "0\r\n\r\n",
          {is_json, {"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}}},
         400,
         "Content-Length"},
        {"gzip",
         {"POST", proof_path, "x", {is_json, {"Content-Encoding", "gzip"}}},
         400,
         "uncompressed"},
        {"larger than a share may be",
         {"POST", share_path, {}, {{"Content-Length", "1048577"}}},
         400,
         "invalid JSON:"},
        {"no such route", {"POST", "/nowhere", {}, {{"Content-Length", "5"}}}, 404, ""},
        {"JSON", {"POST", proof_path, proof, {is_json}}, 202, "queued"},
    };
    Harness harness;
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const Answer answer = harness.send(row.call);
        CHECK(answer.status == row.status);
        CHECK(answer.body.find(row.text) != std::string::npos);
    }
}

}  // namespace
