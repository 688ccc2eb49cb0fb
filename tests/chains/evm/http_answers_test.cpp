#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "chains/evm/http_harness.hpp"
#include "chains/jsonrpc/parse.hpp"
#include "domain/bytes.hpp"

// JSON-RPC inside HTTP: single answers, errors, batches.
namespace support {
namespace {

using chains::jsonrpc::Call;
using chains::jsonrpc::NodeError;

chains::jsonrpc::Answer answer_to(const std::string& body, int status = 200) {
    HttpStub stub(HttpStub::answering([&](const StubRequest&) { return http(status, body); }));
    HttpHarness harness({stub.url()});
    return harness.call();
}

NodeError error_in(const std::string& error) {
    const auto answer = answer_to(R"({"jsonrpc":"2.0","id":1,"error":)" + error + "}");
    REQUIRE(kind_of(answer) == "error");
    return std::get<NodeError>(answer);
}

TEST_CASE("an answer is a result or an error, with the id of the question") {
    struct Row {
        const char* label;
        std::string body;
        std::string kind;
        std::string text;
        int status = 200;
    };
    const std::string nested = std::string(63, '[') + std::string(63, ']');
    const std::vector<Row> rows{
        {"a result", R"({"jsonrpc":"2.0","id":1,"result":[1,{"a":2}]})", "json", "[1,{\"a\":2}]"},
        {"null", R"({"id":1,"result":null})", "json", "null"},
        {"a null error beside it", R"({"id":1,"result":5,"error":null})", "json", "5"},
        {"an error", R"({"id":1,"error":{"code":-32000,"message":"no"}})", "error", "no"},
        {"a null result beside it", R"({"id":1,"result":null,"error":{"code":1,"message":"no"}})",
         "error", "no"},
        {"an error without id", R"({"id":null,"error":{"code":-32700,"message":"parse"}})", "error",
         "parse"},
        {"both", R"({"id":1,"result":5,"error":{"code":1}})", "garbled", "no JSON-RPC"},
        {"neither", R"({"id":1})", "garbled", "no JSON-RPC"},
        {"another id", R"({"id":2,"result":5})", "garbled", "wrong id"},
        {"an id as text", R"({"id":"1","result":5})", "json", "5"},
        {"another id as text", R"({"id":"2","result":5})", "garbled", "wrong id"},
        {"an id with a zero before it", R"({"id":"01","result":5})", "garbled", "wrong id"},
        {"an id with a sign", R"({"id":"+1","result":5})", "garbled", "wrong id"},
        {"an id with a blank", R"({"id":"1 ","result":5})", "garbled", "wrong id"},
        {"an id with a fraction", R"({"id":1.5,"result":5})", "garbled", "wrong id"},
        {"a negative id", R"({"id":-1,"result":5})", "garbled", "wrong id"},
        {"no id", R"({"result":5})", "garbled", "wrong id"},
        {"another id on an error", R"({"id":2,"error":{"code":1}})", "garbled", "wrong id"},
        {"an array", R"([{"id":1,"result":5}])", "garbled", "no JSON-RPC"},
        {"a number", "5", "garbled", "no JSON-RPC"},
        {"half of it", R"({"id":1,"result":)", "garbled", "no JSON-RPC"},
        {"more behind it", R"({"id":1,"result":5}{})", "garbled", "no JSON-RPC"},
        {"NaN", R"({"id":1,"result":NaN})", "garbled", "no JSON-RPC"},
        {"a number beyond all", R"({"id":1,"result":1e999})", "garbled", "no JSON-RPC"},
        {"an id beyond 64 bits", R"({"id":18446744073709551617,"result":5})", "garbled",
         "wrong id"},
        {"a result beyond 64 bits",
         R"({"id":1,"result":{"a":340282366920938463463374607431768211456}})", "json",
         R"({"a":3.402823669209385e+38})"},
        {"two results", R"({"id":1,"result":5,"result":6})", "garbled", "no JSON-RPC"},
        {"two ids", R"({"id":2,"result":5,"id":1})", "garbled", "no JSON-RPC"},
        {"two results, one in disguise", R"({"id":1,"result":5,"\u0072esult":6})", "garbled",
         "no JSON-RPC"},
        {"the deepest nesting", R"({"id":1,"result":)" + nested + "}", "json", nested},
        {"deeper", R"({"id":1,"result":[)" + nested + "]}", "garbled", "no JSON-RPC"},
        {"bottomless", std::string(3'900, '['), "garbled", "no JSON-RPC"},
        {"brackets in text",
         R"({"id":1,"result":"\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[)"
         R"([[[[[[[[[[[[[[[[[[[[[[[[[[[["})",
         "json", R"("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[")"},
        {"an open string", R"({"id":1,"result":"\)", "garbled", "no JSON-RPC"},
        {"half a surrogate", R"({"id":1,"result":"\ud800"})", "garbled", "no JSON-RPC"},
        {"an error that is text", R"({"id":1,"error":"no"})", "garbled", "no JSON-RPC"},
        {"a code that is text", R"({"id":1,"error":{"code":"-32000","message":"no"}})", "garbled",
         "no JSON-RPC"},
        {"no code", R"({"id":1,"error":{"message":"no"}})", "garbled", "no JSON-RPC"},
        {"a code with a fraction", R"({"id":1,"error":{"code":1.5,"message":"no"}})", "garbled",
         "no JSON-RPC"},
        {"a code beyond 64 bits", R"({"id":1,"error":{"code":1e30,"message":"no"}})", "garbled",
         "no JSON-RPC"},
        {"an error in a 400", R"({"id":1,"error":{"code":3,"message":"no"}})", "error", "no", 400},
        {"an error in a 500", R"({"error":{"code":3,"message":"no"}})", "error", "no", 500},
        {"no error in a 401", R"({"error":"Unauthorized"})", "unsent", "HTTP 401", 401},
        {"a result in a 500", R"({"id":1,"result":5})", "garbled", "HTTP 500", 500},
        {"a wrong id in a 500", R"({"id":9,"result":5})", "garbled", "HTTP 500", 500},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const auto answer = answer_to(row.body, row.status);
        CHECK(kind_of(answer) == row.kind);
        CHECK(text_of(answer) == row.text);
    }
}

TEST_CASE("an error is read as far as it is one") {
    CHECK(error_in(R"({"code":-32000.0})").code == -32000);
    CHECK(error_in(R"({"code":-32000})").message.empty());
    CHECK(error_in(R"({"code":1,"message":7})").message.empty());
    CHECK(error_in(R"({"code":-9223372036854775808})").code == INT64_MIN);

    struct Row {
        const char* label;
        std::string data;
        std::optional<std::string> hex;
    };
    const std::vector<Row> rows{
        {"as text", R"("0xD93C0665")", "d93c0665"},
        {"with a word before it", R"("Reverted 0x08c379a0")", "08c379a0"},
        {"in an object", R"({"message":"x","data":"0xd93c0665"})", "d93c0665"},
        {"beside an address", R"({"address":"0x1111111111111111","data":{"data":"0xd93c0665"}})",
         "d93c0665"},
        {"in an array", R"([null,5,"0x","0x1234567",["0xd93c066500"]])", "d93c066500"},
        {"under a hash", R"({"0xabcdef01":{"error":"revert","return":"0xd93c0665"}})", "d93c0665"},
        {"too short", R"("0xd93c06")", std::nullopt},
        {"odd", R"("0xd93c06655")", std::nullopt},
        {"no prefix", R"("d93c0665")", std::nullopt},
        {"no hex", R"("0xzzzzzzzz")", std::nullopt},
        {"null", "null", std::nullopt},
        {"a number", "5", std::nullopt},
        {"nothing in it", "{}", std::nullopt},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        const NodeError error = error_in(R"({"code":3,"message":"m","data":)" + row.data + "}");
        CHECK(error.data.has_value() == row.hex.has_value());
        if (error.data && row.hex) CHECK(domain::to_hex(*error.data) == *row.hex);
    }
}

TEST_CASE("a message is one line of UTF-8 without URLs, at most 500 bytes") {
    const auto message = [](const std::string& text) {
        return error_in(R"({"code":3,"message":")" + text + R"("})").message;
    };
    CHECK(message(R"(a\u0000b\nc\u007fd\u0085e\u2028f)") == "a b c d  e   f");
    CHECK(message("tail \xff\xc3 of bytes \xed\xa0\x80") == "tail ?? of bytes ???");
    CHECK(message("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80") ==
          "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    CHECK(message("see https://u:k3y@node.example/v2/KEY?x=1 now") == "see https://… now");
    CHECK(message(std::string(600, 'x')) == std::string(500, 'x'));
    CHECK(message("x" + std::string(200, 'y') + std::string(R"(€)")).size() == 204);
    std::string euros;
    for (int count = 0; count < 200; ++count) euros += "€";
    CHECK(message(euros).size() == 498);
}

TEST_CASE("many small values are refused before they take memory") {
    const auto with = [](std::size_t count) {
        std::string text = "[0";
        for (std::size_t value = 1; value < count; ++value) text += ",0";
        return chains::jsonrpc::parse(text + "]");
    };
    CHECK(with(500'000));
    CHECK_FALSE(with(500'001));
}

std::vector<Call> numbered(std::size_t count) {
    std::vector<Call> calls;
    for (std::size_t number = 0; number < count; ++number) {
        calls.push_back({"echo", Json::array({number})});
    }
    return calls;
}

Json echo(const Json& call) {
    return reply(call.at("id"), call.at("params").at(0));
}

TEST_CASE("calls travel together, at most three in a request here, and keep their order") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        if (request.body.is_object()) return http(200, echo(request.body).dump());
        Json replies = Json::array();
        for (const Json& call : request.body) replies.insert(replies.begin(), echo(call));
        return http(200, replies.dump());
    }));
    HttpHarness harness({stub.url()});
    for (std::size_t count : {0U, 1U, 3U, 4U, 8U}) {
        CAPTURE(count);
        const auto answers = harness.node.call_all(numbered(count));
        REQUIRE(answers.size() == count);
        for (std::size_t place = 0; place < count; ++place) {
            CHECK(text_of(answers[place]) == std::to_string(place));
        }
    }
    std::vector<std::size_t> sizes;
    for (const StubRequest& request : stub.requests()) {
        sizes.push_back(request.body.is_array() ? request.body.size() : 0);
    }
    CHECK(sizes == std::vector<std::size_t>{0, 3, 3, 0, 3, 3, 2});
}

TEST_CASE("only the calls whose answer is missing, double or broken have trouble") {
    struct Row {
        const char* label;
        std::function<void(Json& replies)> spoil;
        std::vector<std::string> kinds;
    };
    const std::vector<Row> rows{
        {"missing", [](Json& replies) { replies.erase(1); }, {"json", "garbled", "json"}},
        {"double",
         [](Json& replies) { replies.push_back(replies.at(2)); },
         {"json", "json", "garbled"}},
        {"foreign",
         [](Json& replies) { replies.at(0).at("id") = 77; },
         {"garbled", "json", "json"}},
        {"foreign too",
         [](Json& replies) { replies.push_back(reply(0, 1)); },
         {"json", "json", "json"}},
        {"an error",
         [](Json& replies) {
             const Json id = replies.at(1).at("id");
             replies.at(1) = error_reply(id, 3, "execution reverted");
         },
         {"json", "error", "json"}},
        {"one throttled",
         [](Json& replies) {
             const Json id = replies.at(2).at("id");
             replies.at(2) = error_reply(id, -32005, "slow down");
         },
         {"json", "json", "throttled"}},
        {"no reply", [](Json& replies) { replies.at(0) = 5; }, {"garbled", "json", "json"}},
        {"neither",
         [](Json& replies) { replies.at(0).erase("result"); },
         {"garbled", "json", "json"}},
        {"empty",
         [](Json& replies) { replies = Json::array(); },
         {"garbled", "garbled", "garbled"}},
        {"no array", [](Json& replies) { replies = 5; }, {"garbled", "garbled", "garbled"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub stub(HttpStub::answering([&](const StubRequest& request) {
            Json replies = Json::array();
            for (const Json& call : request.body) replies.push_back(echo(call));
            row.spoil(replies);
            return http(200, replies.dump());
        }));
        HttpHarness harness({stub.url()});
        const auto answers = harness.node.call_all(numbered(3));
        std::vector<std::string> kinds;
        std::ranges::transform(answers, std::back_inserter(kinds), kind_of);
        CHECK(kinds == row.kinds);
        CHECK(stub.count() == 1);
    }
}

TEST_CASE("of a batch, only the calls without an answer go to the next URL") {
    HttpStub first(HttpStub::answering([](const StubRequest& request) {
        return http(200, Json::array({echo(request.body.at(1))}).dump());
    }));
    HttpStub second(HttpStub::answering(
        [](const StubRequest& request) { return http_result(request, "second"); }));
    HttpHarness harness({first.url(), second.url()});
    const auto answers = harness.node.call_all({chain_id, numbered(1).front(), send_raw});
    CHECK(text_of(answers.at(0)) == "\"second\"");
    CHECK(text_of(answers.at(1)) == "0");
    CHECK(kind_of(answers.at(2)) == "garbled");  // the first may have taken it
    REQUIRE(second.count() == 1);
    CHECK(second.requests().front().method() == "eth_chainId");
}

TEST_CASE("a node that knows no batches is asked one by one from then on") {
    struct Row {
        const char* label;
        HttpStub::Answer to_batch;
    };
    const std::vector<Row> rows{
        {"one error",
         [](const StubRequest&) {
             return http(200, error_reply(nullptr, -32600, "batches are not supported").dump());
         }},
        {"one error in a 500",
         [](const StubRequest&) {
             return http(500, error_reply(nullptr, -32603, "cannot unmarshal array").dump());
         }},
        {"400", [](const StubRequest&) { return http(400, "expected an object"); }},
        {"413", [](const StubRequest&) { return http(413, ""); }},
        {"jsonrpsee: no batches",
         [](const StubRequest&) {
             const char* const words = "Batched requests are not supported by this server";
             return http(200, error_reply(nullptr, -32005, words).dump());
         }},
        {"jsonrpsee: the request",
         [](const StubRequest&) {
             return http(413, error_reply(nullptr, -32007, "Request is too big").dump());
         }},
        {"jsonrpsee: the response",
         [](const StubRequest&) {
             const char* const words = "The batch response was too large";
             return http(200, error_reply(nullptr, -32011, words).dump());
         }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub stub(HttpStub::answering([&](const StubRequest& request) {
            if (request.body.is_array()) return row.to_batch(request);
            return http(200, echo(request.body).dump());
        }));
        HttpHarness harness({stub.url()});
        for (int round = 0; round < 2; ++round) {
            const auto answers = harness.node.call_all(numbered(3));
            for (std::size_t place = 0; place < 3; ++place) {
                CHECK(text_of(answers[place]) == std::to_string(place));
            }
        }
        CHECK(stub.count() == 7);
    }
}

// What is refused of more than three calls.
std::vector<std::size_t> sizes_asked(const HttpStub::Answer& to_many, domain::Milliseconds wait) {
    HttpStub stub(HttpStub::answering([&](const StubRequest& request) {
        if (request.body.is_object()) return http(200, echo(request.body).dump());
        if (request.body.size() > 3) return to_many(request);
        Json replies = Json::array();
        for (const Json& call : request.body) replies.push_back(echo(call));
        return http(200, replies.dump());
    }));
    HttpHarness harness({stub.url()}, enough, 8);
    std::vector<chains::jsonrpc::Answer> answers;
    for (int round = 0; round < 6; ++round) {
        answers = harness.node.call_all(numbered(8));
        harness.clock.advance(wait);
    }
    for (std::size_t place = 0; place < answers.size(); ++place) {
        CHECK(text_of(answers[place]) == std::to_string(place));
    }
    harness.clock.advance(std::chrono::minutes{10});
    static_cast<void>(harness.node.call_all(numbered(3)));
    std::vector<std::size_t> sizes;
    for (const StubRequest& request : stub.requests()) sizes.push_back(request.body.size());
    return sizes;
}

TEST_CASE("a batch that is refused for its size is asked in halves, for ten minutes") {
    struct Row {
        const char* label;
        HttpStub::Answer to_many;
    };
    const char* const of_drpc =
        "Batch of more than 3 requests are not allowed on free tier, to use this feature register "
        "paid account at drpc.org";
    const Row rows[]{
        {"one error",
         [](const StubRequest&) {
             return http(200, error_reply(nullptr, -32600, "batch too large").dump());
         }},
        {"one error as the only item",
         [](const StubRequest& request) {
             const Json id = request.body.at(0).at("id");
             return http(200, Json::array({error_reply(id, -32600, "batch too large")}).dump());
         }},
        {"the same of each call", [&](const StubRequest& request) {
             Json replies = Json::array();
             for (const Json& call : request.body) {
                 replies.push_back(error_reply(call.at("id"), 31, of_drpc));
             }
             return http(500, replies.dump());
         }}};
    for (const Row& row : rows) {
        CAPTURE(row.label);
        std::vector<std::size_t> expected{8, 4};
        expected.insert(expected.end(), 6 * 4, 2);
        expected.push_back(3);
        CHECK(sizes_asked(row.to_many, domain::Milliseconds{0}) == expected);
    }
}

TEST_CASE("a batch that is throttled three times in a row may be too large for the rate") {
    const auto sizes =
        sizes_asked([](const StubRequest&) { return http(429, ""); }, domain::Milliseconds{1'000});
    CHECK(sizes == std::vector<std::size_t>{8, 8, 8, 4, 2, 2, 2, 2, 2, 2, 2, 2, 3});
}

TEST_CASE("one error for a batch is not for ever") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        if (request.number == 1) {
            return http(200, error_reply(nullptr, -32603, "Internal error").dump());
        }
        if (request.body.is_object()) return http(200, echo(request.body).dump());
        Json replies = Json::array();
        for (const Json& call : request.body) replies.push_back(echo(call));
        return http(200, replies.dump());
    }));
    HttpHarness harness({stub.url()});
    for (const std::size_t requests : {4U, 7U}) {
        CHECK(text_of(harness.node.call_all(numbered(3)).at(2)) == "2");
        CHECK(stub.count() == requests);
    }
    harness.clock.advance(std::chrono::minutes{10});
    CHECK(text_of(harness.node.call_all(numbered(3)).at(2)) == "2");
    CHECK(stub.count() == 8);
}

TEST_CASE("a node that refuses everything is not taken for one without batches") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        return request.number <= 2 ? http(403, "") : http_result(request, 1);
    }));
    HttpHarness harness({stub.url()});
    const auto refused = harness.node.call_all(numbered(3));
    CHECK(text_of(refused.at(0)) == "HTTP 403");
    CHECK(kind_of(refused.at(0)) == "unsent");
    CHECK(kind_of(refused.at(2)) == "unsent");  // held back
    CHECK(stub.count() == 2);
    CHECK(kind_of(harness.node.call_all(numbered(3)).at(2)) == "json");
    CHECK(stub.count() == 3);
}

TEST_CASE("a throttled batch is throttled as a whole") {
    for (const auto& answer : {http(429, "", "Retry-After: 9\r\n"),
                               http(200, error_reply(nullptr, -32005, "slow").dump())}) {
        HttpStub stub(HttpStub::answering([&](const StubRequest&) { return answer; }));
        HttpHarness harness({stub.url()});
        const auto answers = harness.node.call_all(numbered(5));
        for (const auto& one : answers) CHECK(kind_of(one) == "throttled");
        CHECK(stub.count() == 1);
    }
}

TEST_CASE("what is behind a batch that hung is held back") {
    HttpStub stub([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    HttpHarness harness({stub.url()}, patience);
    const auto answers = harness.node.call_all(numbered(5));
    CHECK(kind_of(answers.at(0)) == "timed_out");
    CHECK(kind_of(answers.at(4)) == "unsent");
    CHECK(stub.count() == 1);
}

}  // namespace
}  // namespace support
