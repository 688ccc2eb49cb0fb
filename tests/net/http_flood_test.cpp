#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/echo_application.hpp"
#include "net/raw_client.hpp"
#include "net/request_reader.hpp"

namespace net {
namespace {

using namespace std::chrono_literals;

std::string line_of(std::size_t bytes) {
    return "GET /" + std::string(bytes, 'a');
}

std::string many_headers() {
    std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\n";
    for (int index = 0; index < 200'000; ++index) bytes += "X: y\r\n";
    return bytes;
}

std::string empty_lines(std::size_t count) {
    std::string bytes;
    for (std::size_t line = 0; line < count; ++line) bytes += "\r\n";
    return bytes;
}

struct Flood {
    std::string label;
    std::string bytes;
};

std::vector<Flood> head_floods() {
    return {
        {"no line end", line_of(std::size_t{1} << 20U)},
        {"200k headers", many_headers()},
        {"one header",
         "GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(std::size_t{1} << 20U, 'a')},
        {"binary", std::string(std::size_t{1} << 20U, '\x16')},
        {"empty lines", empty_lines(std::size_t{1} << 19U)},
    };
}

// A reader whose peer has always something more to send.
struct Flooded {
    explicit Flooded(std::string_view bytes) : rest(bytes) {}

    // Whatever the step is that nothing more is read after.
    RequestReader::Step read() {
        for (;;) {
            const auto step = reader.advance();
            if (step != RequestReader::Step::more) return step;
            const auto space = reader.space();
            REQUIRE_FALSE(space.empty());
            const auto bytes = rest.substr(0, space.size());
            std::ranges::copy(bytes, space.begin());
            rest.remove_prefix(bytes.size());
            taken += bytes.size();
            most_buffered = std::max(most_buffered, budget.taken());
            reader.filled(bytes.size());
        }
    }

    std::string_view rest;
    std::size_t taken = 0;
    std::size_t most_buffered = 0;
    ReadingLimits limits;
    ByteBudget budget{std::size_t{64} << 20U};
    RequestReader reader{limits, budget, ""};
};

TEST_CASE("field report 59: no more than 64 KiB are read of a head that does not end") {
    for (const auto& flood : head_floods()) {
        CAPTURE(flood.label);
        Flooded flooded(flood.bytes);
        REQUIRE(flooded.read() == RequestReader::Step::refused);
        CHECK(flooded.most_buffered <= 32'769);
        CHECK(flooded.taken <= 65'536 - 16'384);  // which a connection reads out at most
    }
}

TEST_CASE("some empty lines before a request are passed over, more are none") {
    for (const std::size_t lines : {0U, 1U, 128U, 129U}) {
        CAPTURE(lines);
        const std::string bytes = empty_lines(lines) + get("/");
        Flooded flooded(bytes);
        const bool is_head = flooded.read() == RequestReader::Step::head;
        CHECK(is_head == (lines <= 128));
    }
}

TEST_CASE("field report 58: a body that is too large in chunks is refused before it is buffered") {
    const std::string head =
        "POST /v2/public-decrypt HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    SUBCASE("in one chunk") {
        const std::string bytes = head + "4000000\r\n" + std::string(std::size_t{64} << 20U, 'x');
        Flooded flooded(bytes);
        REQUIRE(flooded.read() == RequestReader::Step::head);
        REQUIRE(flooded.read() == RequestReader::Step::refused);
        CHECK(flooded.reader.problem() == HttpProblem::body_too_large);
        CHECK(flooded.most_buffered == 0);
        CHECK(flooded.taken <= 4096);
    }
    SUBCASE("in many") {
        std::string bytes = head;
        for (int chunk = 0; chunk < 64; ++chunk) {
            bytes += "100000\r\n" + std::string(std::size_t{1} << 20U, 'x') + "\r\n";
        }
        Flooded flooded(bytes);
        REQUIRE(flooded.read() == RequestReader::Step::head);
        REQUIRE(flooded.read() == RequestReader::Step::refused);
        CHECK(flooded.reader.problem() == HttpProblem::body_too_large);
        CHECK(flooded.taken < std::size_t{5} << 20U);
        CHECK(flooded.most_buffered < std::size_t{5} << 20U);
    }
}

struct Service {
    explicit Service(HttpOptions options = {}) : server(options, application) { server.start(); }

    EchoApplication application;
    HttpServer server;
};

TEST_CASE("field report 59: eight peers at once are cut and nobody else notices") {
    Service service({.port = 0, .workers = 2});
    for (const auto& flood : head_floods()) {
        CAPTURE(flood.label);
        std::vector<std::jthread> peers;
        std::atomic<int> cut{0};
        for (int peer = 0; peer < 8; ++peer) {
            peers.emplace_back([&] {
                RawClient client(service.server.port());
                for (int mebibyte = 0; mebibyte < 64; ++mebibyte) {
                    if (client.send(flood.bytes)) continue;
                    ++cut;
                    return;
                }
            });
        }
        RawClient other(service.server.port());
        while (cut < 8) {
            const auto answer = other.ask(get("/liveness"));
            REQUIRE(answer);
            CHECK(answer->status == 200);
            CHECK(service.server.counts().bytes_buffered <= 8 * 32'769);
        }
        while (service.server.counts().connections > 1) std::this_thread::yield();
        CHECK(service.server.counts().bytes_buffered == 0);
    }
    CHECK(service.server.counts().requests_unreadable == 8 * head_floods().size());
}

TEST_CASE("field report 61: idle and dripping clients from everywhere cost no worker") {
    Service service({.port = 0, .workers = 1, .request_deadline = 400ms});
    std::deque<RawClient> idle;
    for (int index = 0; index < 200; ++index) {
        CHECK(idle.emplace_back(service.server.port()).ask(get("/"))->status == 200);
    }
    const std::string request = post("/drip", std::string(500, 'x'));
    std::deque<RawClient> dripping;
    for (int index = 0; index < 200; ++index) {
        dripping.emplace_back(service.server.port()).send(request.substr(0, 80));
    }
    std::atomic<bool> over{false};
    std::jthread drops([&] {
        while (!over) {
            for (auto& client : dripping) client.send("x");
        }
    });
    RawClient other(service.server.port());
    while (service.server.counts().requests_unreadable < 200) {
        const auto answer = other.ask(get("/liveness"));
        REQUIRE(answer);
        CHECK(answer->status == 200);
        std::this_thread::yield();
    }
    over = true;
    drops.join();
    for (auto& client : idle) CHECK(client.ask(get("/again"))->status == 200);
}

TEST_CASE(
    "a pipeline of answers that need no body is answered whole, in order, with others between") {
    EchoApplication application;
    HttpServer server({.port = 0, .workers = 2}, application);
    server.start();
    constexpr int requests = 1'000;
    RawClient flooder(server.port());
    std::string bytes;
    for (int i = 0; i < requests; ++i) bytes += "GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n";
    bytes += "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n";
    std::thread sender([&] { flooder.send(bytes); });
    RawClient other(server.port());
    other.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(other.answer().value().status == 200);
    for (int i = 0; i < requests; ++i) REQUIRE(flooder.answer().value().status == 404);
    CHECK(flooder.answer().value().status == 200);
    sender.join();
}

TEST_CASE("a listener that makes room lets a newcomer in for the connection that waits longest") {
    EchoApplication application;
    HttpServer server({.port = 0, .workers = 1, .connections_max = 16, .makes_room = true},
                      application);
    server.start();
    std::vector<std::unique_ptr<RawClient>> idle;
    for (int i = 0; i < 16; ++i) {
        idle.push_back(std::make_unique<RawClient>(server.port()));
        while (server.counts().connections != idle.size()) std::this_thread::yield();
    }
    RawClient newcomer(server.port());
    newcomer.send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(newcomer.answer().value().status == 200);
    CHECK_FALSE(idle.front()->answer());
    idle.back()->send("GET /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    CHECK(idle.back()->answer().value().status == 200);
    CHECK(server.counts().connections_refused == 0);
}

TEST_CASE("empty lines between requests keep no connection alive") {
    EchoApplication application;
    HttpServer server({.port = 0,
                       .workers = 1,
                       .idle_timeout = std::chrono::seconds{1},
                       .request_deadline = std::chrono::milliseconds{100}},
                      application);
    server.start();
    RawClient client(server.port());
    const auto begin = std::chrono::steady_clock::now();
    while (client.send_raw("\r\n") && !client.is_readable(50)) {
        REQUIRE(std::chrono::steady_clock::now() - begin < 10s);
    }
    CHECK_FALSE(client.answer());
}

}  // namespace
}  // namespace net
