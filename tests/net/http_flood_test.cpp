#include <doctest/doctest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/echo_application.hpp"
#include "net/connection.hpp"
#include "net/raw_client.hpp"

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
    };
}

// A connection whose peer has always something more to send.
struct Flooded {
    explicit Flooded(std::string_view bytes) : rest(bytes) {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) ==
                0);
        peer = FileDescriptor(ends[0]);
        connection = std::make_shared<Connection>(FileDescriptor(ends[1]), nullptr, "", returns);
    }

    void send_what_fits() {
        const auto sent = ::send(peer.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(sent));
        sent_bytes += static_cast<std::size_t>(sent);
    }

    std::size_t taken() const {
        int waiting = 0;
        REQUIRE(::ioctl(connection->descriptor(), FIONREAD, &waiting) == 0);
        return sent_bytes - static_cast<std::size_t>(waiting);
    }

    // Whatever the step was that the loop does not read on after.
    Connection::Step read() {
        for (;;) {
            send_what_fits();
            connection->receive();
            const auto step = connection->advance();
            if (step != Connection::Step::more) return step;
        }
    }

    bool is_cut_while_discarding() {
        while (connection->discard_input()) {
            if (rest.empty()) return false;
            send_what_fits();
        }
        return true;
    }

    std::string_view rest;
    std::size_t sent_bytes = 0;
    FileDescriptor peer;
    std::shared_ptr<Returns> returns =
        std::make_shared<Returns>(ReadingLimits{}, std::size_t{64} << 20U, 125s);
    std::shared_ptr<Connection> connection;
};

TEST_CASE("field report 59: no more than 64 KiB are read of a head that does not end") {
    for (const auto& flood : head_floods()) {
        CAPTURE(flood.label);
        Flooded flooded(flood.bytes);
        REQUIRE(flooded.read() == Connection::Step::refused);
        CHECK(flooded.returns->budget().taken() <= 32'769);
        CHECK(flooded.is_cut_while_discarding());
        CHECK(flooded.taken() <= 65'536);
    }
}

TEST_CASE("field report 58: a chunked body is refused before it is buffered") {
    const std::string bytes =
        "POST /v2/public-decrypt HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4000000\r\n" +
        std::string(std::size_t{64} << 20U, 'x');
    Flooded flooded(bytes);
    REQUIRE(flooded.read() == Connection::Step::head);
    REQUIRE(flooded.connection->advance() == Connection::Step::refused);
    CHECK(flooded.connection->problem() == HttpProblem::transfer_encoding);
    CHECK(flooded.returns->budget().taken() == 0);
    CHECK(flooded.is_cut_while_discarding());
    CHECK(flooded.taken() < std::size_t{5} << 20U);
    CHECK(flooded.returns->budget().taken() == 0);
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
