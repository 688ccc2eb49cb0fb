#include "net/http_server.hpp"

#include <doctest/doctest.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "net/admission.hpp"
#include "net/echo_application.hpp"
#include "net/raw_client.hpp"

namespace net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Service {
    explicit Service(HttpOptions options = {}) : server(with_any_port(options), application) {
        server.start();
    }
    // A test that failed half way must not leave a handler waiting.
    ~Service() { application.open(); }

    static HttpOptions with_any_port(HttpOptions options) {
        options.port = 0;
        if (options.workers == HttpOptions{}.workers) options.workers = 4;
        return options;
    }

    void wait_for_connections(std::size_t count) {
        while (server.counts().connections != count) std::this_thread::yield();
    }

    EchoApplication application;
    HttpServer server;
};

TEST_CASE("one connection carries many requests") {
    Service service;
    RawClient client(service.server.port());
    for (int round = 0; round < 200; ++round) {
        const auto answer = client.ask(post("/v2/x?n=" + std::to_string(round), "{}"));
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->body == "POST /v2/x?n=" + std::to_string(round) + " {}");
        CHECK(answer->has("Connection: keep-alive\r\n"));
        CHECK(answer->has("Keep-Alive: timeout=125\r\n"));
        CHECK(answer->has("Content-Type: text/plain\r\n"));
    }
    CHECK(service.server.counts().connections == 1);
}

TEST_CASE("pipelined requests are answered in order") {
    Service service;
    RawClient client(service.server.port());
    std::string bytes;
    for (int index = 0; index < 100; ++index) {
        bytes += post("/" + std::to_string(index), std::string(200, 'b'));
    }
    client.send(bytes);
    for (int index = 0; index < 100; ++index) {
        const auto answer = client.answer();
        REQUIRE(answer);
        CHECK(answer->body.starts_with("POST /" + std::to_string(index) + "? b"));
    }
}

TEST_CASE("a request may arrive byte by byte") {
    Service service;
    RawClient client(service.server.port());
    for (const char byte : "\r\n" + post("/bytes", "slow")) client.send({&byte, 1});
    CHECK(client.answer()->body == "POST /bytes? slow");
}

TEST_CASE("bodies of every size arrive whole") {
    Service service;
    RawClient client(service.server.port());
    for (const std::size_t bytes :
         {0U, 1U, 3000U, 4095U, 4096U, 9000U, 40'000U, 65'535U, 65'536U, 100'000U, 2'097'152U}) {
        CAPTURE(bytes);
        std::string body(bytes, 'x');
        if (!body.empty()) body.back() = '!';
        const auto answer = client.ask(post("/echo", body));
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->body == "POST /echo? " + body);
    }
}

TEST_CASE("forms of any size are bodies like others") {
    Service service;
    RawClient client(service.server.port());
    for (const std::string type :
         {"application/x-www-form-urlencoded", "multipart/form-data; boundary=b"}) {
        CAPTURE(type);
        const auto answer =
            client.ask(post("/size", std::string(9000, 'a'), "Content-Type: " + type + "\r\n"));
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->body == "9000");
    }
}

TEST_CASE("NUL bytes belong into bodies only") {
    using namespace std::string_literals;
    Service service;
    CHECK(RawClient(service.server.port()).ask(post("/size", "a\0b"s))->body == "3");
    CHECK(RawClient(service.server.port()).ask("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n"s)->status ==
          400);
    CHECK(RawClient(service.server.port()).ask("\0\0\0\0"s)->status == 400);
}

TEST_CASE("a request that cannot be read is answered for its route, then the connection closes") {
    struct Row {
        std::string label;
        std::string bytes;
        int status;
        std::string path;
    };
    const std::string host = "Host: h\r\n";
    const std::vector<Row> rows{
        {"garbage", "garbage\r\n\r\n", 400, ""},
        {"TLS", "\x16\x03\x01\x02", 400, ""},
        {"bare line feeds", "GET / HTTP/1.1\nHost: h\n\n", 400, "/"},
        {"version", "GET /v HTTP/3.0\r\n" + host + "\r\n", 505, "/v"},
        {"length twice",
         "POST /l HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n.", 400,
         "/l"},
        {"garbage length", "POST /g HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 400, "/g"},
        {"another coding", "POST /c HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 411,
         "/c"},
        {"gzip",
         "POST /z HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Encoding: gzip\r\n\r\n", 415,
         "/z"},
        {"large body", "POST /b HTTP/1.1\r\n" + host + "Content-Length: 2097153\r\n\r\n", 413,
         "/b"},
        {"large body with expectation",
         "POST /e HTTP/1.1\r\n" + host + "Content-Length: 2097153\r\nExpect: 100-continue\r\n\r\n",
         413, "/e"},
        {"long header", "GET /h HTTP/1.1\r\n" + host + "A: " + std::string(40'000, 'a'), 431, "/h"},
        {"long target", "GET /" + std::string(40'000, 'a'), 431, "/" + std::string(1'019, 'a')},
        {"unfinished head", "GET /u HTTP/1.1\r\nHo", 400, "/u"},
        {"unfinished body", "POST /w HTTP/1.1\r\n" + host + "Content-Length: 10\r\n\r\nabc", 400,
         "/w"},
    };
    Service service;
    for (const auto& row : rows) {
        CAPTURE(row.label);
        RawClient client(service.server.port());
        client.send(row.bytes);
        if (row.label.starts_with("unfinished")) client.finish_sending();
        const auto answer = client.answer();
        REQUIRE(answer);
        CHECK(answer->status == row.status);
        CHECK(answer->has("X-Path: " + row.path + "\r\n"));
        CHECK(answer->has("Connection: close\r\n"));
        CHECK(client.ends());
    }
    CHECK(service.application.handled == 0);
    CHECK(service.server.counts().requests_unreadable == rows.size());
}

TEST_CASE("one header too many") {
    Service service;
    const auto request = [](int headers) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n";
        for (int index = 1; index < headers; ++index) bytes += "A: b\r\n";
        return bytes + "\r\n";
    };
    CHECK(RawClient(service.server.port()).ask(request(100))->status == 200);
    CHECK(RawClient(service.server.port()).ask(request(101))->status == 431);
}

TEST_CASE("a refused body that keeps coming does not take the answer back") {
    Service service;
    RawClient client(service.server.port());
    client.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3000000\r\n\r\n");
    client.send(std::string(60'000, 'x'));
    const auto answer = client.answer();
    REQUIRE(answer);
    CHECK(answer->status == 413);
    client.send(std::string(100'000, 'x'));
    service.wait_for_connections(0);
}

TEST_CASE("an answer from the head alone leaves the body unread") {
    Service service;
    RawClient client(service.server.port());
    const auto announced =
        client.ask("POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n");
    REQUIRE(announced);
    CHECK(announced->status == 404);
    CHECK(announced->has("Connection: close"));
    CHECK(client.ends());

    RawClient without_body(service.server.port());
    without_body.send(get("/nowhere") + get("/there"));
    CHECK(without_body.answer()->status == 404);
    CHECK(without_body.answer()->status == 200);
    CHECK(service.application.handled == 1);
}

TEST_CASE("a client that asks first is told to go on") {
    Service service;
    RawClient client(service.server.port());
    for (int round = 0; round < 2; ++round) {
        client.send(
            "POST /size HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        const auto go_on = client.answer();
        REQUIRE(go_on);
        CHECK(go_on->status == 100);
        CHECK(client.ask("hello")->body == "5");
    }
    SUBCASE("not if it did not wait") {
        const auto answer = client.ask(post("/size", "hello", "Expect: 100-continue\r\n"));
        CHECK(answer->status == 200);
    }
    SUBCASE("not if the head is enough for an answer") {
        const auto answer = client.ask(
            "POST /nowhere HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: "
            "100-continue\r\n\r\n");
        CHECK(answer->status == 404);
    }
}

TEST_CASE("who wants the connection closed gets that") {
    struct Row {
        std::string label;
        std::string head;
        bool closes;
    };
    const std::vector<Row> rows{
        {"1.1", "GET / HTTP/1.1\r\nHost: h\r\n\r\n", false},
        {"close", "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", true},
        {"1.0", "GET / HTTP/1.0\r\n\r\n", true},
        {"1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false},
    };
    Service service;
    for (const auto& row : rows) {
        CAPTURE(row.label);
        RawClient client(service.server.port());
        const auto answer = client.ask(row.head);
        REQUIRE(answer);
        CHECK(answer->has("Connection: close") == row.closes);
        CHECK(answer->has("Keep-Alive: timeout") == !row.closes);
        if (row.closes) CHECK(client.ends());
    }
}

TEST_CASE("a client that stops sending after its request still gets the answer") {
    Service service;
    RawClient client(service.server.port());
    client.send(get("/last"));
    client.finish_sending();
    CHECK(client.answer()->body == "GET /last? ");
    CHECK(client.ends());
}

TEST_CASE("the answer to HEAD has a length and no body") {
    Service service;
    RawClient client(service.server.port());
    client.send("HEAD /large HTTP/1.1\r\nHost: h\r\n\r\n");
    const auto answer = client.answer(true);
    REQUIRE(answer);
    CHECK(answer->has("Content-Length: " + std::to_string(EchoApplication::large_bytes)));
    CHECK(client.ask(get("/next"))->status == 200);
}

TEST_CASE("what an application throws never leaves") {
    Service service;
    RawClient client(service.server.port());
    for (const std::string path : {"/throws", "/throws-number", "/throws-early"}) {
        CAPTURE(path);
        const auto answer = client.ask(get(path));
        REQUIRE(answer);
        CHECK(answer->status == 500);
        CHECK(answer->body == "internal error");
        CHECK(answer->has("X-Path: " + path));
        CHECK_FALSE(answer->has("secret"));
        CHECK_FALSE(answer->has("EXCEPTION"));
    }
    CHECK(client.ask(get("/fine"))->status == 200);
}

TEST_CASE("line breaks cannot smuggle headers into an answer") {
    HttpResponse response;
    response.headers.emplace_back("X-Echo", "a\r\nSet-Cookie: b");
    const auto bytes = to_bytes(response, {}, "", false);
    CHECK(bytes.find("\r\nSet-Cookie") == std::string::npos);
    CHECK(bytes.find("X-Echo: a  Set-Cookie: b\r\n") != std::string::npos);
}

TEST_CASE("every answer says when it was made") {
    struct Row {
        std::int64_t seconds;
        std::string date;
    };
    for (const Row& row : {Row{784'111'777, "Sun, 06 Nov 1994 08:49:37 GMT"},
                           Row{0, "Thu, 01 Jan 1970 00:00:00 GMT"},
                           Row{4'107'542'399, "Sun, 28 Feb 2100 23:59:59 GMT"}}) {
        CHECK(http_date(std::chrono::sys_seconds(std::chrono::seconds(row.seconds))) == row.date);
    }
    Service service({.connections_max = 1});
    RawClient client(service.server.port());
    for (const std::string& request :
         {get("/"), get("/nowhere"), get("/throws"), std::string("garbage\r\n\r\n")}) {
        CAPTURE(request);
        const auto answer = client.ask(request);
        REQUIRE(answer);
        const std::size_t at = answer->head.find("\r\nDate: ");
        REQUIRE(at != std::string::npos);
        CHECK(answer->head.substr(at + 8 + 25, 6) == " GMT\r\n");
        if (answer->has("Keep-Alive")) {
            CHECK(RawClient(service.server.port()).answer()->has("\r\nDate: "));
        }
    }
}

TEST_CASE("an answer travels in one piece") {
    Service service;
    RawClient client(service.server.port());
    client.send(post("/echo", std::string(2000, 'x')));
    CHECK(client.receive_once() > 2000);
}

TEST_CASE("idle connections cost no worker") {
    Service service({.workers = 2});
    std::deque<RawClient> idle;
    for (int index = 0; index < 200; ++index) {
        idle.emplace_back(service.server.port());
        if (index % 2 == 0) CHECK(idle.back().ask(get("/"))->status == 200);
    }
    RawClient client(service.server.port());
    for (int round = 0; round < 100; ++round) CHECK(client.ask(get("/"))->status == 200);
    for (auto& one : idle) CHECK(one.ask(get("/again"))->status == 200);
    CHECK(service.server.counts().connections == 201);
}

TEST_CASE("dripping clients cost no worker and are cut at the deadline") {
    Service service({.workers = 1, .request_deadline = 300ms});
    const std::string request = post("/drip", std::string(5000, 'x'));
    std::deque<RawClient> heads;
    std::deque<RawClient> bodies;
    for (int index = 0; index < 20; ++index) {
        heads.emplace_back(service.server.port()).send(request.substr(0, 20));
        bodies.emplace_back(service.server.port()).send(request.substr(0, 300));
    }
    const auto begin = Clock::now();
    std::size_t sent = 20;
    while (Clock::now() < begin + 200ms) {
        for (auto& client : heads) client.send(request.substr(sent, 1));
        for (auto& client : bodies) client.send("x");
        ++sent;
        CHECK(RawClient(service.server.port()).ask(get("/others"))->status == 200);
        std::this_thread::sleep_for(10ms);
    }
    for (auto* clients : {&heads, &bodies}) {
        for (auto& client : *clients) {
            const auto answer = client.answer();
            REQUIRE(answer);
            CHECK(answer->status == 408);
            CHECK(answer->has("X-Path: /drip"));
        }
    }
    CHECK(Clock::now() - begin >= 290ms);
    CHECK(Clock::now() - begin < 5s);
}

TEST_CASE("a client that does not take its answer costs no worker") {
    Service service({.workers = 1});
    RawClient slow(service.server.port(), 4096);
    slow.send(get("/large") + get("/after"));
    RawClient quick(service.server.port());
    for (int round = 0; round < 20; ++round) CHECK(quick.ask(get("/"))->status == 200);
    const auto large = slow.answer();
    REQUIRE(large);
    CHECK(large->body.size() == EchoApplication::large_bytes);
    CHECK(slow.answer()->body == "GET /after? ");
}

TEST_CASE("answers that wait for their peers have a budget, which is not that of requests") {
    constexpr std::size_t large = EchoApplication::large_bytes;
    Service service({.buffered_bytes_max = large + large / 2});
    RawClient slow(service.server.port(), 4096);
    slow.send(get("/large"));
    while (service.server.counts().bytes_buffered < large) std::this_thread::yield();
    // Half an answer is better than no memory for anybody.
    CHECK_FALSE(RawClient(service.server.port(), 4096).ask(get("/large")));
    CHECK(RawClient(service.server.port()).ask(get("/"))->status == 200);

    const auto answer = slow.answer();
    REQUIRE(answer);
    CHECK(answer->body.size() == large);
    while (service.server.counts().bytes_buffered > 0) std::this_thread::yield();
}

TEST_CASE("an answer larger than the budget is sent while there is no other") {
    Service service({.buffered_bytes_max = EchoApplication::large_bytes / 2});
    RawClient slow(service.server.port(), 4096);
    slow.send(get("/large"));
    while (service.server.counts().bytes_buffered == 0) std::this_thread::yield();
    const auto answer = slow.answer();
    REQUIRE(answer);
    CHECK(answer->body.size() == EchoApplication::large_bytes);
}

TEST_CASE("a fixed body is sent from where it is, whoever takes it however slowly") {
    static const std::string fixed(EchoApplication::large_bytes, 'F');
    struct Fixed : EchoApplication {
        HttpResponse handle(const HttpRequest&) override {
            HttpResponse response;
            response.fixed_body = fixed;
            return response;
        }
    };
    Fixed application;
    HttpServer server({.port = 0, .workers = 1, .buffered_bytes_max = 100'000}, application);
    server.start();
    RawClient slow(server.port(), 4096);
    slow.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" + get("/1") + get("/2"));
    const auto head = slow.answer(true);
    REQUIRE(head);
    CHECK(head->has("Content-Length: " + std::to_string(fixed.size()) + "\r\n"));
    for (int round = 0; round < 2; ++round) {
        const auto answer = slow.answer();
        REQUIRE(answer);
        const bool is_whole = answer->body == fixed;
        CHECK(is_whole);
    }
}

TEST_CASE("a client that never takes its answer is cut at the deadline") {
    Service service({.request_deadline = 300ms});
    RawClient slow(service.server.port(), 4096);
    slow.send(get("/large"));
    service.wait_for_connections(1);
    service.wait_for_connections(0);
}

TEST_CASE(
    "sdk-client-contract 1.12: an idle connection is kept as every answer says, then closed") {
    CHECK(HttpOptions{}.idle_timeout >= 2min);
    Service service({.idle_timeout = 1s});
    RawClient client(service.server.port());
    CHECK(client.ask(get("/"))->has("Keep-Alive: timeout=1\r\n"));
    const auto begin = Clock::now();
    CHECK(client.ends());
    CHECK(Clock::now() - begin >= 1s);
}

TEST_CASE("connections over a limit are turned away at once and others are not") {
    struct Row {
        std::string label;
        HttpOptions options;
    };
    const std::vector<Row> rows{
        {"in all", {.connections_max = 3}},
        {"per address", {.connections_per_address_max = 3}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.label);
        Service service(row.options);
        std::deque<RawClient> clients;
        for (int index = 0; index < 3; ++index) {
            clients.emplace_back(service.server.port());
            CHECK(clients.back().ask(get("/"))->status == 200);
        }
        RawClient refused(service.server.port());
        const auto answer = refused.answer();
        REQUIRE(answer);
        CHECK(answer->status == 503);
        CHECK(answer->has("Retry-After: 1\r\n"));
        CHECK(answer->has("Connection: close\r\n"));
        CHECK(answer->has("X-Path: \r\n"));
        CHECK(answer->body == text_of(HttpProblem::connections_too_many));
        CHECK(refused.ends());
        CHECK(service.server.counts().connections_refused == 1);

        CHECK(clients.front().ask(get("/"))->status == 200);
        clients.pop_back();
        service.wait_for_connections(2);
        CHECK(RawClient(service.server.port()).ask(get("/"))->status == 200);
    }
}

TEST_CASE("what went through is counted") {
    Service service;
    RawClient client(service.server.port());
    CHECK(client.ask(get("/"))->status == 200);
    CHECK(client.ask(get("/nowhere"))->status == 404);
    const std::string large = post("/size", std::string(20'000, 'x'));
    client.send(large.substr(0, 10'000));
    while (service.server.counts().bytes_buffered == 0) std::this_thread::yield();
    CHECK(service.server.counts().bytes_buffered <= 20'200);
    CHECK(client.ask(large.substr(10'000))->body == "20000");
    CHECK(RawClient(service.server.port()).ask("garbage\r\n\r\n")->status == 400);
    while (service.server.counts().bytes_buffered > 0) std::this_thread::yield();

    const auto counts = service.server.counts();
    CHECK(counts.requests_read == 3);
    CHECK(counts.requests_unreadable == 1);
    CHECK(counts.handshakes_failed == 0);
}

TEST_CASE("bodies share a budget, small requests do not") {
    Service service({.buffered_bytes_max = 100'000});
    std::deque<RawClient> clients;
    std::size_t refused = 0;
    for (int index = 0; index < 3; ++index) {
        auto& client = clients.emplace_back(service.server.port());
        client.send("POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n" +
                    std::string(30'000, 'x'));
        if (index > 0) {
            const auto answer = client.answer();
            REQUIRE(answer);
            refused += answer->status == 503 ? 1 : 0;
        } else {
            // The first one is in when a later request of another client has been answered.
            while (service.server.counts().connections == 0) std::this_thread::yield();
            CHECK(RawClient(service.server.port()).ask(get("/"))->status == 200);
        }
    }
    CHECK(refused == 2);
    CHECK(RawClient(service.server.port()).ask(post("/size", std::string(3000, 'x')))->status ==
          200);
    CHECK(clients.front().ask(std::string(30'000, 'x'))->status == 200);
    // The room is given back just after the answer has been sent.
    const auto again = post("/size", std::string(60'000, 'x'));
    while (RawClient(service.server.port()).ask(again)->status == 503) std::this_thread::yield();
}

TEST_CASE("the largest request alone fits into the smallest budget for it, in whichever way") {
    HttpOptions options{.head_bytes_max = 2'048, .body_bytes_max = 700'000};
    options.buffered_bytes_max = options.buffered_bytes_min();
    Service service(options);
    const std::string whole(options.body_bytes_max, 'x');
    std::string chunked;
    for (std::size_t sent = 0; sent < whole.size(); sent += 7'000) {
        chunked += "1b58;padding=ppppppppp\r\n" + whole.substr(sent, 7'000) + "\r\n";
    }
    const std::string start = "POST /size HTTP/1.1\r\nHost: h\r\nX: " + std::string(1'900, 'h');
    for (const std::string& request :
         {start + "\r\nContent-Length: 700000\r\n\r\n" + whole,
          start + "\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked + "0\r\n\r\n"}) {
        const auto answer = RawClient(service.server.port()).ask(request);
        REQUIRE(answer);
        CHECK(answer->status == 200);
        CHECK(answer->body == "700000");
        while (service.server.counts().bytes_buffered > 0) std::this_thread::yield();
    }
}

struct SoftFileLimit {
    explicit SoftFileLimit(rlim_t files) {
        REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
        set(files);
    }
    ~SoftFileLimit() { ::setrlimit(RLIMIT_NOFILE, &before); }

    void set(rlim_t files) const {
        rlimit low = before;
        low.rlim_cur = files;
        REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    }

    rlimit before{};
};

TEST_CASE("room is left for other files") {
    const SoftFileLimit limit(256);
    CHECK(connections_allowed(4096, 100) == 156);
    CHECK(connections_allowed(4096, 1000) == 128);
    CHECK(connections_allowed(10, 100) == 10);
    limit.set(31);
    CHECK(connections_allowed(4096, 100) == 16);
}

TEST_CASE("field report 64: too low a limit of open files is named with what to do") {
    const SoftFileLimit limit(30);
    std::string message;
    try {
        static_cast<void>(connections_allowed(1, 100));
    } catch (const std::runtime_error& error) {
        message = error.what();
    }
    for (const char* text : {"limit of open files is 30", "LimitNOFILE=", "ulimit -n"}) {
        CAPTURE(text);
        CHECK(message.find(text) != std::string::npos);
    }
}

TEST_CASE("the soft limit of open files is raised and never lowered") {
    const SoftFileLimit limit(200);
    const rlim_t raised = std::min<rlim_t>(limit.before.rlim_max, 1'048'576);
    const Service service;
    rlimit now{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
    CHECK(now.rlim_cur == raised);
    raise_file_limit();
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
    CHECK(now.rlim_cur == raised);
}

// A child may lower its hard limit, which is for good.
TEST_CASE("field report 64: a crowd leaves descriptors to everything else") {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const rlimit low{.rlim_cur = 256, .rlim_max = 256};
        bool kept = ::setrlimit(RLIMIT_NOFILE, &low) == 0;
        {
            Service service;
            std::deque<RawClient> clients;
            while (service.server.counts().connections_refused == 0 && clients.size() < 120) {
                clients.emplace_back(service.server.port());
            }
            const base::Descriptor other(::dup(0));
            const auto answer = clients.front().ask(get("/"));
            kept = kept && other.is_open() && answer && answer->status == 200;
        }
        ::_exit(kept ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}

TEST_CASE("without descriptors accepting pauses and goes on later") {
    Service service;
    RawClient first(service.server.port());
    CHECK(first.ask(get("/"))->status == 200);
    RawClient second(service.server.port());
    CHECK(second.ask(get("/"))->status == 200);

    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const base::Descriptor next(::dup(0));
    rlimit low = before;
    low.rlim_cur = static_cast<rlim_t>(next.get() + 2);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    RawClient waiting(service.server.port());
    waiting.send(get("/"));
    CHECK(first.ask(get("/"))->status == 200);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(waiting.answer()->status == 200);
}

TEST_CASE("sdk-client-contract 1.13: draining closes the idle, finishes the rest, accepts nobody") {
    Service service;
    RawClient idle(service.server.port());
    CHECK(idle.ask(get("/"))->status == 200);
    RawClient silent(service.server.port());
    RawClient busy(service.server.port());
    busy.send(get("/blocks") + get("/pipelined"));
    service.application.wait_for_blocked(1);
    RawClient arriving(service.server.port());
    const auto late = post("/late", "0123456789");
    arriving.send(late.substr(0, late.size() - 5));
    service.wait_for_connections(4);

    CHECK_FALSE(service.server.drain(20ms));
    CHECK(idle.ends());
    CHECK(silent.ends());
    CHECK_THROWS_AS(RawClient(service.server.port()), std::runtime_error);

    const auto arrived = arriving.ask(late.substr(late.size() - 5));
    REQUIRE(arrived);
    CHECK(arrived->body == "POST /late? 0123456789");
    CHECK(arrived->has("Connection: close"));

    service.application.open();
    const auto answer = busy.answer();
    REQUIRE(answer);
    CHECK(answer->body == "GET /blocks? ");
    CHECK(answer->has("Connection: close"));
    CHECK(busy.ends());
    CHECK(service.server.drain(10s));
    CHECK(service.server.counts().connections == 0);
}

TEST_CASE("who has connected just before draining is still answered") {
    Service service;
    RawClient newcomer(service.server.port());
    service.wait_for_connections(1);
    CHECK_FALSE(service.server.drain(25ms));
    const auto answer = newcomer.ask(get("/"));
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->has("Connection: close"));
    CHECK(service.server.drain(10s));
}

TEST_CASE("a request that never arrives does not hold up draining") {
    Service service;
    RawClient dripping(service.server.port());
    dripping.send("POST /drip HTTP/1.1\r\n");
    service.wait_for_connections(1);
    while (!service.server.drain(5s)) {
    }
    const auto answer = dripping.answer();
    CHECK((!answer || answer->status == 408));
}

TEST_CASE("the server goes away with connections in every state") {
    RawClient* leftover = nullptr;
    std::deque<RawClient> clients;
    {
        Service service;
        for (int index = 0; index < 4; ++index) clients.emplace_back(service.server.port());
        clients[0].send("GET / HT");
        clients[1].send(get("/large"));
        clients[2].send(post("/b", "x").substr(0, 30));
        CHECK(clients[3].ask(get("/"))->status == 200);
        leftover = &clients[3];
    }
    CHECK(leftover->ends());
}

TEST_CASE("an address that cannot be had is named") {
    EchoApplication application;
    HttpServer first({.port = 0}, application);
    struct Row {
        std::string host;
        int port;
        std::string text;
    };
    const std::vector<Row> rows{
        {"127.0.0.1", first.port(), "Address already in use"},
        {"203.0.113.7", 0, "Cannot assign requested address"},
        {"no such host", 0, "cannot listen on no such host:0: "},
        {"127.0.0.1", 70'000, "a port is 0 to 65535"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.host);
        std::string message;
        try {
            const HttpServer second({.host = row.host, .port = row.port}, application);
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(message.find("cannot listen on " + row.host + ":" + std::to_string(row.port)) == 0);
        CHECK(message.find(row.text) != std::string::npos);
    }
    CHECK(first.drain(1ms));
}

struct LoopbackAddress {
    sockaddr_storage address{};
    socklen_t length = 0;

    static LoopbackAddress v4(int port) {
        LoopbackAddress made{.length = sizeof(sockaddr_in)};
        auto& v4 = reinterpret_cast<sockaddr_in&>(made.address);
        v4.sin_family = AF_INET;
        v4.sin_port = htons(static_cast<std::uint16_t>(port));
        v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return made;
    }
    static LoopbackAddress v6(int port) {
        LoopbackAddress made{.length = sizeof(sockaddr_in6)};
        auto& v6 = reinterpret_cast<sockaddr_in6&>(made.address);
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(static_cast<std::uint16_t>(port));
        v6.sin6_addr = in6addr_loopback;
        return made;
    }

    [[nodiscard]] bool try_to(int (*call)(int, const sockaddr*, socklen_t)) const {
        const base::Descriptor socket(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        return call(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0;
    }
    // This machine has it.
    [[nodiscard]] bool exists() const { return try_to(::bind); }
    [[nodiscard]] bool connects() const { return try_to(::connect); }
};

bool is_name_of(const std::string& host, int family) {
    addrinfo hints{};
    hints.ai_family = family;
    addrinfo* found = nullptr;
    const bool has = ::getaddrinfo(host.c_str(), nullptr, &hints, &found) == 0;
    if (has) ::freeaddrinfo(found);
    return has;
}

TEST_CASE("field report 101: a name is listened on at each of its addresses, on one port") {
    EchoApplication application;
    HttpServer server({.host = "localhost", .port = 0, .workers = 1}, application);
    server.start();
    const int port = server.port();
    CHECK(RawClient(port).ask(get("/"))->status == 200);
    const bool has_v6 = is_name_of("localhost", AF_INET6) && LoopbackAddress::v6(0).exists();
    CHECK(LoopbackAddress::v6(port).connects() == has_v6);

    CHECK_THROWS_AS(HttpServer({.host = "localhost", .port = port}, application),
                    std::runtime_error);
    server.stop_accepting();
    while (LoopbackAddress::v4(port).connects() || LoopbackAddress::v6(port).connects()) {
        std::this_thread::yield();
    }
}

TEST_CASE("field report 101: one taken address of a name is enough to be told so") {
    if (!is_name_of("localhost", AF_INET6) || !LoopbackAddress::v6(0).exists()) return;
    EchoApplication application;
    const HttpServer first({.host = "::1", .port = 0}, application);
    CHECK_THROWS_WITH_AS(HttpServer({.host = "localhost", .port = first.port()}, application),
                         doctest::Contains("Address already in use"), std::runtime_error);
}

TEST_CASE("what was found out about a head goes with its exchange") {
    struct Ticketed : EchoApplication {
        HeadVerdict before_body(const HttpRequest& head) override {
            ++judged;
            return {.ticket = std::make_shared<const std::string>(head.path)};
        }
        void serve(HttpExchange exchange) override {
            HttpResponse response;
            response.body = *std::static_pointer_cast<const std::string>(exchange.ticket());
            exchange.answer(std::move(response));
        }
        std::atomic<int> judged{0};
    };
    Ticketed application;
    HttpServer server({.port = 0, .workers = 1}, application);
    server.start();
    RawClient client(server.port());
    for (const std::string path : {"/one", "/two", "/three"}) {
        CHECK(client.ask(post(path, "body"))->body == path);
    }
    CHECK(application.judged == 3);
}

TEST_CASE("peers of one IPv6 network count as one") {
    const auto peer = [](const char* text) {
        sockaddr_storage address{};
        auto* v6 = reinterpret_cast<sockaddr_in6*>(&address);
        v6->sin6_family = AF_INET6;
        REQUIRE(::inet_pton(AF_INET6, text, &v6->sin6_addr) == 1);
        return PeerAddress(address);
    };
    CHECK(peer("2001:db8::1") == peer("2001:db8::ffff:1"));
    CHECK(peer("2001:db8::1").text() == "2001:db8::1");
    CHECK_FALSE(peer("2001:db8::1") == peer("2001:db8:0:1::1"));
    CHECK(peer("::ffff:192.0.2.1").text() == "192.0.2.1");
    CHECK_FALSE(peer("::ffff:192.0.2.1") == peer("::ffff:192.0.2.2"));

    Admission admission(3, 2);
    CHECK(admission.enter(peer("2001:db8::1")));
    CHECK(admission.enter(peer("2001:db8::2")));
    CHECK_FALSE(admission.enter(peer("2001:db8::3")));
    CHECK(admission.enter(peer("2001:db8:0:1::1")));
    CHECK_FALSE(admission.enter(peer("2001:db8:0:2::1")));
    admission.leave(peer("2001:db8::2"));
    CHECK(admission.enter(peer("2001:db8:0:2::1")));
    CHECK(admission.connections() == 3);
}

}  // namespace
}  // namespace net
