#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "chains/evm/http_harness.hpp"

// Several URLs that stand for one node: who is asked, and when.
namespace support {
namespace {

using namespace std::chrono_literals;

HttpStub::Answer always(const Json& result) {
    return [=](const StubRequest& request) { return http_result(request, result); };
}

std::string deserted_url() {
    return "http://127.0.0.1:" + std::to_string(deserted_port());
}

// What the first of two URLs does, and whether the second is asked then.
struct Fault {
    const char* label;
    HttpStub::Script script;
    std::string kind;  // without a second URL
    bool call_moves;
    bool send_moves;
};

std::vector<Fault> faults() {
    return {
        {"throttles", HttpStub::answering([](const StubRequest&) { return http(429, ""); }),
         "throttled", true, true},
        {"closes", [](StubPeer&, const StubRequest&) { return false; }, "lost", true, false},
        {"hangs",
         [](StubPeer& peer, const StubRequest&) {
             peer.hang();
             return false;
         },
         "timed_out", true, false},
        {"fails", HttpStub::answering([](const StubRequest&) { return http(502, "<html>"); }),
         "garbled", true, false},
        {"talks nonsense", HttpStub::answering([](const StubRequest&) { return http(200, "?"); }),
         "garbled", true, false},
        {"refuses", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, 3, "execution reverted");
         }),
         "error", false, false},
        {"refuses with a status", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -32000, "nonce too low", 400);
         }),
         "error", false, false},
        {"is busy, behind a door", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -2102, "ETH temporarily unavailable", 503);
         }),
         "unsent", true, true},
        {"is busy", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -2102, "ETH temporarily unavailable");
         }),
         "error", false, false},
        {"gave up, behind a door", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -32002, "request timed out", 504);
         }),
         "timed_out", true, false},
        {"shuts an address out", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -2021, "IP Address Not Allowed", 403);
         }),
         "unsent", true, true},
        {"shuts an account of its own out", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -32000, "account is blocked", 403);
         }),
         "unsent", true, true},
        {"shuts our account out", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -32000, "account is blocked");
         }),
         "error", false, false},
        {"answers", HttpStub::answering(always(nullptr)), "json", false, false},
    };
}

// The answer of a call for which no thread waits.
chains::jsonrpc::Answer answer_then(chains::jsonrpc::Node& node,
                                    const chains::jsonrpc::Call& call) {
    std::promise<chains::jsonrpc::Answer> answered;
    node.call_then(call, std::nullopt, [&answered](chains::jsonrpc::Answer answer) {
        answered.set_value(std::move(answer));
    });
    return answered.get_future().get();
}

TEST_CASE("a call goes to the next URL when this one has trouble; a transaction only when unsent") {
    for (const Fault& fault : faults()) {
        for (const auto& [call, moves] :
             {std::pair{chain_id, fault.call_moves}, std::pair{send_raw, fault.send_moves},
              std::pair{chains::jsonrpc::Call{"eth_sendRawTransaction", {"0x"}},
                        fault.send_moves}}) {
            CAPTURE(fault.label);
            CAPTURE(call.method);
            HttpStub first(fault.script);
            HttpStub second(HttpStub::answering(always("second")));
            HttpHarness harness({first.url(), second.url()},
                                fault.kind == "timed_out" ? 1s : enough);
            const auto answer = harness.node.call(call);
            CHECK(kind_of(answer) == (moves ? "json" : fault.kind));
            CHECK(first.count() == 1);
            CHECK(second.count() == (moves ? 1 : 0));
            CHECK(harness.node.problem().has_value() ==
                  (kind_of(answer) != "json" && kind_of(answer) != "error"));

            HttpHarness other({first.url(), second.url()}, fault.kind == "timed_out" ? 1s : enough);
            std::atomic<int> written{0};
            chains::jsonrpc::Call counted = call;
            counted.written = [&written] { ++written; };
            const auto same = answer_then(other.node, counted);
            CHECK(written == (moves ? 2 : 1));  // to each URL that was reached
            CHECK(kind_of(same) == kind_of(answer));
            CHECK(text_of(same) == text_of(answer));
            CHECK(first.count() == 2);
            CHECK(second.count() == (moves ? 2 : 0));
            CHECK(other.node.problem() == harness.node.problem());
        }
    }
    for (const auto& call : {chain_id, send_raw}) {
        HttpStub second(HttpStub::answering(always("second")));
        HttpHarness harness({deserted_url(), second.url()});
        CHECK(text_of(harness.node.call(call)) == "\"second\"");
    }
}

TEST_CASE("after a send without a word the next one begins with the next URL; reads stay") {
    struct Row {
        const char* label;
        HttpStub::Script to_send;
    };
    const Row rows[]{
        {"hangs",
         [](StubPeer& peer, const StubRequest&) {
             peer.hang();
             return false;
         }},
        {"closes", [](StubPeer&, const StubRequest&) { return false; }},
        {"fails", HttpStub::answering([](const StubRequest&) { return http(502, "<html>"); })},
        {"is at another path",
         HttpStub::answering([](const StubRequest&) { return http(404, "<html>"); })},
        {"gives up waiting", HttpStub::answering([](const StubRequest& request) {
             return http_error(request, -32000, "context deadline exceeded");
         })},
        {"says nothing", HttpStub::answering(always(nullptr))},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub first([&](StubPeer& peer, const StubRequest& request) {
            if (request.method() != "eth_chainId") return row.to_send(peer, request);
            return peer.send(http_result(request, "first"));
        });
        HttpStub second(HttpStub::answering(always("second")));
        HttpHarness harness({first.url(), second.url()},
                            row.label == std::string("hangs") ? 1s : enough);
        const auto unknown = harness.node.call(send_raw);
        CHECK(text_of(unknown) != "\"second\"");
        CHECK(text_of(harness.node.call(send_raw)) == "\"second\"");
        CHECK(text_of(answer_then(harness.node, send_raw)) == "\"second\"");
        CHECK(text_of(harness.call()) == "\"first\"");
        // What became of it is asked where it is sent.
        CHECK(text_of(harness.node.call({"eth_getTransactionByHash", {"0x1"}})) == "\"second\"");
        CHECK(first.count() == 2);
        harness.clock.advance(10min);
        CHECK(kind_of(answer_then(harness.node, send_raw)) == kind_of(unknown));
        CHECK(text_of(answer_then(harness.node, send_raw)) == "\"second\"");
        CHECK(first.count() == 3);
    }
}

TEST_CASE("sends go round all URLs until one says something") {
    const auto broken = HttpStub::answering([](const StubRequest&) { return http(502, ""); });
    HttpStub first(broken);
    HttpStub second(broken);
    HttpStub third(HttpStub::answering(always("third")));
    HttpHarness harness({first.url(), second.url(), third.url()});
    CHECK(text_of(harness.node.call(send_raw)) == "HTTP 502 (url 1 of 3)");
    CHECK(text_of(harness.node.call(send_raw)) == "HTTP 502 (url 2 of 3)");
    CHECK(text_of(harness.node.call(send_raw)) == "\"third\"");
}

TEST_CASE("calls for which no thread waits end with a stop, all of them before it returns") {
    HttpStub stub([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    HttpHarness harness({stub.url(), deserted_url()});
    std::atomic<int> stopped{0};
    const auto count = [&stopped](const chains::jsonrpc::Answer& answer) {
        if (kind_of(answer) == "stopped") ++stopped;
    };
    for (int number = 0; number < 30; ++number) {
        harness.node.call_then(send_raw, std::nullopt, count);
    }
    REQUIRE(stub.await(30));
    harness.node.stop();
    CHECK(stopped == 30);
    harness.node.call_then(send_raw, std::nullopt, count);
    CHECK(stopped == 31);
    HttpHarness nobody({});
    CHECK(text_of(answer_then(nobody.node, chain_id)) == "no URL configured");
}

TEST_CASE("trouble names the URL by its place") {
    HttpStub second(HttpStub::answering([](const StubRequest&) { return http(502, ""); }));
    HttpHarness harness({deserted_url(), second.url(), deserted_url()});
    CHECK(text_of(harness.call()) == "connection refused (url 3 of 3)");
    CHECK(harness.node.problem() == "connection refused (url 3 of 3)");
    CHECK(text_of(harness.node.call(send_raw)) == "HTTP 502 (url 2 of 3)");
}

TEST_CASE("a refusal says which of several URLs it came from") {
    HttpStub stub(HttpStub::answering(
        [](const StubRequest& request) { return http_error(request, -32000, "nonce too low"); }));
    const auto url_of = [](HttpHarness& harness) {
        return std::get<chains::jsonrpc::NodeError>(harness.node.call(send_raw)).url;
    };
    HttpHarness alone({stub.url()});
    CHECK(url_of(alone) == 0);
    HttpHarness second({deserted_url(), stub.url()});
    CHECK(url_of(second) == 2);
    const auto answer = answer_then(second.node, send_raw);
    CHECK(std::get<chains::jsonrpc::NodeError>(answer).url == 2);
}

TEST_CASE("a node that said wait is left alone until then") {  // field report 71
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        return request.number <= 3 ? http(429, "slow down", "Retry-After: 7\r\n")
                                   : http_error(request, 3, "execution reverted");
    }));
    HttpHarness harness({stub.url()});
    for (std::size_t round = 1; round <= 3; ++round) {
        CAPTURE(round);
        auto answer = harness.call();
        CHECK(kind_of(answer) == "throttled");
        CHECK(text_of(answer) == "asked to wait 7 s");
        CHECK(wait_ms(answer) == 7'000);
        harness.clock.advance(6'900ms);
        answer = harness.node.call(send_raw);
        CHECK(kind_of(answer) == "throttled");
        CHECK(wait_ms(answer) == 100);
        CHECK(kind_of(harness.node.call_all({chain_id, chain_id}).at(1)) == "throttled");
        CHECK(stub.count() == round);
        harness.clock.advance(100ms);
    }
    CHECK(kind_of(harness.call()) == "error");
    CHECK(stub.count() == 4);
}

TEST_CASE("a revert is asked once, with a second URL at hand") {  // field report 71
    const auto revert = HttpStub::answering([](const StubRequest& request) {
        return http_error(request, 3, "execution reverted: rate limit of the contract");
    });
    HttpStub first(revert);
    HttpStub second(revert);
    HttpHarness harness({first.url(), second.url()});
    CHECK(kind_of(harness.call()) == "error");
    CHECK(first.count() == 1);
    CHECK(second.count() == 0);
}

TEST_CASE("calls go elsewhere while the preferred URL is throttled, and come back") {
    HttpStub first(HttpStub::answering([](const StubRequest& request) {
        return request.number == 1 ? http(503, "", "Retry-After: 5\r\n")
                                   : http_result(request, "first");
    }));
    HttpStub second(HttpStub::answering([](const StubRequest& request) {
        return request.number == 3 ? http(429, "", "Retry-After: 60\r\n")
                                   : http_result(request, "second");
    }));
    HttpHarness harness({first.url(), second.url()});
    CHECK(text_of(harness.call()) == "\"second\"");
    CHECK(text_of(harness.call()) == "\"second\"");
    CHECK(first.count() == 1);
    harness.clock.advance(2s);
    const auto both = harness.call();
    CHECK(kind_of(both) == "throttled");
    CHECK(wait_ms(both) == 3'000);  // until the first of them may be asked again
    harness.clock.advance(3s);
    CHECK(text_of(harness.call()) == "\"first\"");
    CHECK(second.count() == 3);
}

TEST_CASE("what counts as throttling, and how long it lasts") {
    struct Row {
        const char* label;
        HttpStub::Answer answer;
        std::string kind;
        long wait;
    };
    const auto error = [](int code, const char* message) {
        return [=](const StubRequest& request) { return http_error(request, code, message); };
    };
    const auto status = [](int code, const char* fields) {
        return [=](const StubRequest&) { return http(code, "", fields); };
    };
    // The clock of the harness stands at Mon, 01 Jun 2026 00:00:00 GMT.
    const std::vector<Row> rows{
        {"no field", status(429, ""), "throttled", 1'000},
        {"zero", status(429, "Retry-After: 0\r\n"), "throttled", 1'000},
        {"seconds", status(429, "retry-after:  30 \r\n"), "throttled", 30'000},
        {"an hour", status(429, "Retry-After: 3600\r\n"), "throttled", 600'000},
        {"ages", status(429, "Retry-After: 99999999999999999999\r\n"), "throttled", 600'000},
        {"a date", status(429, "Retry-After: Mon, 01 Jun 2026 00:01:30 GMT\r\n"), "throttled",
         90'000},
        {"a date gone by", status(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
         "throttled", 1'000},
        {"no date", status(429, "Retry-After: Mon, 31 Feb 2026 00:00:00 GMT\r\n"), "throttled",
         1'000},
        {"nonsense", status(429, "Retry-After: soon\r\n"), "throttled", 1'000},
        {"503 without a time", status(503, ""), "garbled", 0},
        {"an error in a 429", [](const StubRequest& r) { return http_error(r, -32000, "no", 429); },
         "throttled", 1'000},
        {"words of a busy node in a 429",
         [](const StubRequest& r) { return http_error(r, -32005, "please try again later", 429); },
         "throttled", 1'000},
        {"limit exceeded", error(-32005, "limit exceeded"), "throttled", 1'000},
        {"-32097", error(-32097, "busy"), "throttled", 1'000},
        {"in words", error(-32000, "You hit the Rate Limit"), "throttled", 1'000},
        {"in other words", error(429, "Too Many Requests"), "throttled", 1'000},
        {"header not found", error(-32005, "header not found"), "error", 0},
        {"a range that holds too much", error(-32005, "query returned more than 10000 results"),
         "error", 0},
        {"a contract that says so", error(-32000, "execution reverted: too many requests"), "error",
         0},
        {"underpriced", error(-32000, "transaction underpriced"), "error", 0},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub stub(HttpStub::answering(row.answer));
        HttpHarness harness({stub.url()});
        const auto answer = harness.call();
        CHECK(kind_of(answer) == row.kind);
        if (row.kind == "throttled") CHECK(wait_ms(answer) == row.wait);
    }
}

TEST_CASE("an avoided URL is better than none") {
    HttpStub first(HttpStub::answering(always("first")));
    HttpStub second([](StubPeer&, const StubRequest&) { return false; });
    const std::string deserted = deserted_url();
    HttpHarness harness({deserted, second.url()});
    for (int round = 0; round < 4; ++round) {
        CHECK(text_of(harness.call()) ==
              (round < 3 ? "connection broken (url 2 of 2)" : "connection refused (url 1 of 2)"));
    }
}

TEST_CASE("no text holds any part of a URL") {  // field report 62
    const std::vector<std::string> secrets{
        "k3y",    "SECRET",    "TOKEN",
        "tenant", "127.0.0.1", "dGVuYW50OmszeQ"};  // of tenant:k3y in base64
    const std::string place = "tenant:k3y@127.0.0.1";
    const std::string target = "/v2/SECRET%2D1?x=TOKEN%2b2";
    std::string url;
    const auto echo = [&](const StubRequest& request) {
        return "<html>" + url + " SECRET tenant:k3y TOKEN " + request.head + "</html>";
    };
    struct Row {
        const char* label;
        HttpStub::Script script;
        const char* kind;
    };
    const std::vector<Row> rows{
        {"500", HttpStub::answering([&](const StubRequest& r) { return http(500, echo(r)); }),
         "garbled"},
        {"200", HttpStub::answering([&](const StubRequest& r) { return http(200, echo(r)); }),
         "garbled"},
        {"429", HttpStub::answering([&](const StubRequest& r) { return http(429, echo(r)); }),
         "throttled"},
        {"401", HttpStub::answering([&](const StubRequest& r) { return http(401, echo(r)); }),
         "unsent"},
        {"error", HttpStub::answering([&](const StubRequest& r) {
             return http_error(
                 r, -32000,
                 "unknown key SECRET-1 at " + url + " for tenant, k3y,TOKEN+2: " + r.head);
         }),
         "error"},
        {"hangs",
         [](StubPeer& peer, const StubRequest&) {
             peer.hang();
             return false;
         },
         "timed_out"},
        {"closes", [](StubPeer&, const StubRequest&) { return false; }, "lost"},
        {"no HTTP", HttpStub::answering([&](const StubRequest& r) { return echo(r); }), "lost"},
    };
    const auto check_harmless = [&](const std::string& text) {
        CAPTURE(text);
        for (const std::string& secret : secrets) CHECK(text.find(secret) == std::string::npos);
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub stub(row.script);
        url = stub.url(place, target);
        HttpHarness harness({url}, row.kind == std::string("timed_out") ? patience : enough);
        const auto answer = harness.call();
        if (std::string(row.label) != "no HTTP") CHECK(kind_of(answer) == row.kind);
        check_harmless(text_of(answer));
        check_harmless(harness.node.problem().value_or(""));
    }
    HttpHarness refused(
        {"http://tenant:k3y@127.0.0.1:" + std::to_string(deserted_port()) + target});
    check_harmless(text_of(refused.call()));
    try {
        HttpHarness wrong({"http://127.0.0.1:1", "ftp://tenant:k3y@127.0.0.1/SECRET"});
        FAIL("accepted");
    } catch (const std::invalid_argument& error) {
        CHECK(error.what() == std::string("url 2 of 2 is no http or https URL"));
    }
}

TEST_CASE("without URLs every call is unsent") {
    HttpHarness harness({});
    CHECK(text_of(harness.call()) == "no URL configured");
    CHECK(kind_of(harness.node.call_all({chain_id, chain_id, chain_id, chain_id}).at(3)) ==
          "unsent");
}

}  // namespace
}  // namespace support
