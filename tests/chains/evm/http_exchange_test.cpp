#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "chains/evm/http_harness.hpp"

// One URL, one exchange: what becomes of it on the wire.
namespace support {
namespace {

const std::string fine = R"({"jsonrpc":"2.0","id":1,"result":"0x1"})";

std::string chunked(std::string_view body, std::string_view trailer = {}) {
    std::string text = "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n";
    for (const char byte : body) text.append("1;x=y\r\n").append(1, byte).append("\r\n");
    return text.append("0\r\n").append(trailer).append("\r\n");
}

TEST_CASE("an answer arrives however it is framed, and a broken one is told from a garbled one") {
    struct Row {
        const char* label;
        std::string wire;
        std::string kind;
        std::string text;
    };
    const std::string big(5'000, ' ');
    const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto times = [](int count, const std::string& text) {
        std::string all;
        for (int i = 0; i < count; ++i) all += text;
        return all;
    };
    const std::vector<Row> rows{
        {"length", http(200, fine), "json", "\"0x1\""},
        {"chunks", chunked(fine), "json", "\"0x1\""},
        {"chunks with trailer", chunked(fine, "X-Sum: 1\r\n"), "json", "\"0x1\""},
        {"until the end", "HTTP/1.0 200 OK\r\n\r\n" + fine, "json", "\"0x1\""},
        {"no reason phrase", "HTTP/1.1 200 \r\nContent-Length: 39\r\n\r\n" + fine, "json",
         "\"0x1\""},
        {"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 39\n\n" + fine, "garbled", "no HTTP"},
        {"after an interim one", "HTTP/1.1 103 Hints\r\nA: b\r\n\r\n" + http(200, fine), "json",
         "\"0x1\""},
        {"after sixteen interim ones", times(16, interim) + http(200, fine), "json", "\"0x1\""},
        {"a flood of interim ones", times(10'000, interim) + http(200, fine), "garbled",
         "no end of interim responses"},
        {"status 201", http(201, fine), "json", "\"0x1\""},
        {"nothing", "", "lost", "connection broken"},
        {"half a status line", "HTTP/1.1 2", "lost", "connection broken"},
        {"half a head", "HTTP/1.1 200 OK\r\nContent-Le", "lost", "connection broken"},
        {"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n" + fine, "lost",
         "connection broken"},
        {"half the chunks", chunked(fine).substr(0, 100), "lost", "connection broken"},
        {"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", "garbled", "no HTTP"},
        {"HTTP/2", "HTTP/2 200\r\n\r\n", "garbled", "no HTTP"},
        {"no field", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "garbled", "no HTTP"},
        {"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 39\r\n\r\n" + fine,
         "garbled", "no HTTP"},
        {"negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "garbled", "no HTTP"},
        {"huge length", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
         "garbled", "no HTTP"},
        {"unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "garbled",
         "no HTTP"},
        {"no chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "garbled",
         "no HTTP"},
        {"too long by its length", http(200, fine + big), "garbled", "answer too large"},
        {"too long in chunks", chunked(fine + big), "garbled", "answer too large"},
        {"too long without length", "HTTP/1.1 200 OK\r\n\r\n" + fine + big, "garbled",
         "answer too large"},
        {"endless head", "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'), "garbled",
         "answer too large"},
        {"empty", http(200, ""), "garbled", "no JSON-RPC"},
        {"nothing to read", http(204, ""), "garbled", "no JSON-RPC"},
        {"moved", http(301, "", "Location: http://127.0.0.1:1/\r\n"), "garbled", "HTTP 301"},
        {"HTML", http(502, "<html>Bad Gateway</html>"), "garbled", "HTTP 502"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub stub([&](StubPeer& peer, const StubRequest&) {
            peer.send(row.wire);
            return false;
        });
        HttpHarness harness({stub.url()});
        const auto answer = harness.call();
        CHECK(kind_of(answer) == row.kind);
        CHECK(text_of(answer) == row.text);
        CHECK(harness.node.problem() ==
              (row.kind == "json" ? std::nullopt : std::optional(row.text)));
        CHECK(stub.count() == 1);
    }
}

TEST_CASE("what never reached a node is unsent") {
    HttpStub plain(HttpStub::answering([](const StubRequest& r) { return http_result(r, 1); }));
    StubServer closes([](StubPeer&) {});
    StubServer silent([](StubPeer& peer) { peer.hang(); });
    struct Row {
        const char* label;
        std::string url;
        std::string text;
    };
    const std::vector<Row> rows{
        {"refused", "http://127.0.0.1:" + std::to_string(deserted_port()), "connection refused"},
        {"no TLS there", "https://127.0.0.1:" + std::to_string(closes.port()), "TLS failed"},
        {"handshake hangs", "https://127.0.0.1:" + std::to_string(silent.port()),
         "no connection in time"},
        {"no such name", "http://posthouse.invalid/", "name not found"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpHarness harness({row.url},
                            domain::Milliseconds{row.text == "name not found" ? 2'000 : 200});
        const auto answer = harness.node.call(send_raw);
        CHECK(kind_of(answer) == "unsent");
        if (row.text != "name not found") CHECK(text_of(answer) == row.text);
    }
}

TEST_CASE("a connection that is reset is lost, before and after the first byte") {
    for (const std::string& before : {std::string(), std::string("HTTP/1.1 200 OK\r\n")}) {
        CAPTURE(before);
        HttpStub stub([&](StubPeer& peer, const StubRequest&) {
            peer.send(before);
            peer.reset();
            return false;
        });
        HttpHarness harness({stub.url()});
        CHECK(kind_of(harness.call()) == "lost");
        CHECK(stub.count() == 1);
    }
}

TEST_CASE("a peer that drips, hangs or does not read is given up at the deadline") {
    struct Row {
        const char* label;
        HttpStub::Script script;
    };
    const std::string many(1'000, ' ');
    const std::vector<Row> rows{
        {"says nothing",
         [](StubPeer& peer, const StubRequest&) {
             peer.hang();
             return false;
         }},
        {"drips its head",
         [&](StubPeer& peer, const StubRequest&) {
             peer.drip("HTTP/1.1 200 OK\r\nX: " + many);
             return false;
         }},
        {"drips its body",
         [&](StubPeer& peer, const StubRequest&) {
             peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1039\r\n\r\n");
             peer.drip(many + fine);
             return false;
         }},
        {"drips chunks",
         [&](StubPeer& peer, const StubRequest&) {
             peer.drip(chunked(many + fine));
             return false;
         }},
        {"stops in the middle",
         [](StubPeer& peer, const StubRequest&) {
             peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1039\r\n\r\n{");
             peer.hang();
             return false;
         }},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        HttpStub stub(row.script);
        HttpHarness harness({stub.url()}, patience);
        const Stopwatch watch;
        const auto answer = harness.call();
        CHECK(watch.ms() >= 240);
        CHECK(watch.ms() < 3'000);
        CHECK(kind_of(answer) == "timed_out");
        CHECK(text_of(answer) == "no answer in 250 ms");
    }

    StubServer deaf([](StubPeer& peer) { peer.hang(); });
    HttpHarness harness({"http://127.0.0.1:" + std::to_string(deaf.port())}, patience);
    const auto answer = harness.node.call({"eth_call", {std::string(20U << 20U, 'x')}});
    CHECK(kind_of(answer) == "timed_out");
}

TEST_CASE("a call may bring its own timeout") {
    HttpStub stub([](StubPeer& peer, const StubRequest& request) {
        return !peer.gone_within(400) && peer.send(http_result(request, 5));
    });
    HttpHarness harness({stub.url()}, patience);
    CHECK(text_of(harness.call()) == "no answer in 250 ms");
    CHECK(text_of(harness.node.call(send_raw, enough)) == "5");
}

TEST_CASE("path, query, user and password of the URL are honoured") {
    HttpStub stub(HttpStub::answering([](const StubRequest& r) { return http_result(r, 1); }));
    HttpHarness harness({stub.url("us%40er:pa:ss@localhost", "/v2/KEY?x=TOKEN#frag")});
    CHECK(kind_of(harness.call()) == "json");
    const std::string head = stub.requests().front().head;
    CHECK(head.starts_with("POST /v2/KEY?x=TOKEN HTTP/1.1\r\n"));
    CHECK(head.find("\r\nHost: localhost:") != std::string::npos);
    CHECK(head.find("\r\nAuthorization: Basic dXNAZXI6cGE6c3M=\r\n") != std::string::npos);
    CHECK(head.find("\r\nContent-Type: application/json\r\n") != std::string::npos);
    CHECK(
        stub.requests().front().body ==
        Json(
            {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "eth_chainId"}, {"params", Json::array()}}));
}

TEST_CASE("a connection is used again, unless the node ends it") {
    struct Row {
        const char* label;
        std::string fields;
        std::size_t connections;
    };
    for (const Row& row : {Row{"kept", "", 1}, Row{"closed", "connection: a, Close\r\n", 3}}) {
        CAPTURE(row.label);
        HttpStub stub(HttpStub::answering([&](const StubRequest& r) {
            return http(200, reply(r.body.at("id"), 1).dump(), row.fields);
        }));
        HttpHarness harness({stub.url()});
        for (int round = 0; round < 3; ++round) CHECK(kind_of(harness.call()) == "json");
        CHECK(stub.connections() == row.connections);
    }
}

TEST_CASE("bytes behind an answer are never taken for the next one") {
    HttpStub stub(HttpStub::answering([](const StubRequest& request) {
        return http_result(request, 1) + http(200, reply(request.number + 1, "forged").dump());
    }));
    HttpHarness harness({stub.url()});
    for (int round = 0; round < 3; ++round) CHECK(text_of(harness.call()) == "1");
    CHECK(stub.connections() == 3);
}

TEST_CASE("an idle connection that died is replaced") {
    SUBCASE("it was closed while idle: nothing is sent twice, not even a transaction") {
        HttpStub stub([](StubPeer& peer, const StubRequest& request) {
            peer.send(http_result(request, 1));
            return false;
        });
        HttpHarness harness({stub.url()});
        CHECK(kind_of(harness.call()) == "json");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        CHECK(kind_of(harness.node.call(send_raw)) == "json");
        CHECK(stub.count() == 2);
    }
    // It dies when the second request arrives.
    HttpStub stub([](StubPeer& peer, const StubRequest& request) {
        if (request.number == 2) return false;
        return peer.send(http_result(request, 1));
    });
    HttpHarness harness({stub.url()});
    REQUIRE(kind_of(harness.call()) == "json");
    SUBCASE("a question is asked once more, on a fresh connection") {
        CHECK(kind_of(harness.call()) == "json");
        CHECK(stub.count() == 3);
        CHECK(stub.connections() == 2);
    }
    SUBCASE("a transaction is not") {
        const auto answer = harness.node.call(send_raw);
        CHECK(kind_of(answer) == "lost");
        CHECK(stub.count() == 2);
    }
    SUBCASE("nor a batch that holds one") {
        const auto answers = harness.node.call_all({chain_id, send_raw});
        CHECK(kind_of(answers.at(0)) == "lost");
        CHECK(kind_of(answers.at(1)) == "lost");
        CHECK(stub.count() == 2);
    }
}

TEST_CASE("sixteen threads ask at once and each gets its own answer") {
    HttpStub stub(HttpStub::answering(
        [](const StubRequest& r) { return http_result(r, r.body.at("params").at(0)); }));
    HttpHarness harness({stub.url()}, enough);
    std::atomic<int> right{0};
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 16; ++thread) {
        threads.emplace_back([&, thread] {
            for (int round = 0; round < 25; ++round) {
                const int number = thread * 1'000 + round;
                if (text_of(harness.node.call({"echo", {number}})) == std::to_string(number)) {
                    ++right;
                }
            }
        });
    }
    threads.clear();
    CHECK(right == 16 * 25);
    CHECK(stub.connections() < 16 * 25 / 2);  // most of them used one that was there
}

TEST_CASE("stop ends calls under way and every later one") {
    HttpStub stub([](StubPeer& peer, const StubRequest&) {
        peer.hang();
        return false;
    });
    HttpHarness harness({stub.url()}, domain::Milliseconds{20'000});
    std::string kind;
    std::jthread caller([&] { kind = kind_of(harness.node.call(send_raw)); });
    REQUIRE(stub.await(1));
    const Stopwatch watch;
    harness.node.stop();
    caller.join();
    CHECK(kind == "stopped");
    CHECK(watch.ms() < 500);
    CHECK(kind_of(harness.call()) == "stopped");
    CHECK(kind_of(harness.node.call_all({chain_id, chain_id}).at(1)) == "stopped");
    CHECK(stub.count() == 1);
}

TEST_CASE("stop ends an attempt to connect") {
    StubServer silent([](StubPeer& peer) { peer.hang(); });
    HttpHarness harness({"https://127.0.0.1:" + std::to_string(silent.port())},
                        domain::Milliseconds{20'000});
    std::string kind;
    std::jthread caller([&] { kind = kind_of(harness.call()); });
    while (silent.connections() == 0) std::this_thread::yield();
    const Stopwatch watch;
    harness.node.stop();
    caller.join();
    CHECK(kind == "stopped");
    CHECK(watch.ms() < 500);
}

}  // namespace
}  // namespace support
