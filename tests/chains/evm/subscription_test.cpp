#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "chains/evm/http_harness.hpp"
#include "chains/jsonrpc/subscription.hpp"
#include "net/certificate.hpp"
#include "support/websocket_stub.hpp"

namespace support {
namespace {

using namespace std::chrono_literals;
using chains::jsonrpc::Subscription;
using chains::jsonrpc::SubscriptionOptions;

class Nudges {
public:
    void add() {
        const std::lock_guard lock(mutex_);
        ++count_;
        changed_.notify_all();
    }
    [[nodiscard]] int count() const {
        const std::lock_guard lock(mutex_);
        return count_;
    }
    [[nodiscard]] bool await(int count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 5s, [&] { return count_ >= count; });
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

std::string url_of(const StubServer& server, const std::string& before = "ws://127.0.0.1:") {
    return before + std::to_string(server.port()) + "/ws/SECRET?k=TOKEN";
}

SubscriptionOptions options_for(std::string url) {
    SubscriptionOptions options;
    options.url = std::move(url);
    options.addresses.resize(2);
    options.addresses.at(1).fill(0xab);
    options.topics.resize(1);
    options.topics.at(0).fill(0x12);
    options.retry_interval = 10ms;
    return options;
}

struct Watcher {
    explicit Watcher(SubscriptionOptions options)
        : subscription(std::move(options), clock, [this] { nudges.add(); }) {}

    // Until its trouble is this one.
    bool await_problem(const std::optional<std::string>& text) {
        const Stopwatch watch;
        while (watch.ms() < 5'000) {
            if (subscription.problem() == text) return true;
            std::this_thread::yield();
        }
        return false;
    }

    VirtualClock clock;
    Nudges nudges;
    Subscription subscription;
};

TEST_CASE("it subscribes to the logs of the contracts and nudges at once and at each of them") {
    Json request;
    std::string head;
    std::atomic<int> wanted{0};
    bool masked = true;
    Nudges asked;
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (!socket.shake_hands()) return;
        head = socket.head();
        const auto frame = socket.next();
        if (!frame) return;
        masked = frame->masked;
        request = Json::parse(frame->payload);
        asked.add();
        // Notifications may overtake the reply.
        socket.send(R"({"jsonrpc":"2.0","id":1,"result":"0xcd"})");
        for (int count = 0; count < 3; ++count) socket.send(notification);
        socket.send(R"({"jsonrpc":"2.0","id":9,"result":"unasked"})");
        peer.hang();
    });
    Watcher watcher(options_for(url_of(server, "ws://user:pw@127.0.0.1:")));
    CHECK(watcher.nudges.await(4));
    CHECK(watcher.subscription.problem() == std::nullopt);
    REQUIRE(asked.await(1));
    CHECK(masked);
    CHECK(request ==
          Json({{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "eth_subscribe"},
                {"params",
                 {"logs",
                  {{"address",
                    {"0x" + std::string(40, '0'), "0xabababababababababababababababababababab"}},
                   {"topics",
                    {{"0x1212121212121212121212121212121212121212121212121212121212121212"}}}}}}}));
    CHECK(head.starts_with("GET /ws/SECRET?k=TOKEN HTTP/1.1\r\n"));
    CHECK(head.find("\r\nAuthorization: Basic dXNlcjpwdw==\r\n") != std::string::npos);
    CHECK(head.find("\r\nSec-WebSocket-Version: 13\r\n") != std::string::npos);
    watcher.subscription.stop();
    CHECK(watcher.nudges.count() == 4);
}

TEST_CASE("report 100: the reply's id may come back as text") {
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (!socket.shake_hands() || !socket.next()) return;
        socket.send(R"({"jsonrpc":"2.0","id":"1","result":"0xcd"})");
        socket.send(notification);
        peer.hang();
    });
    Watcher watcher(options_for(url_of(server)));
    CHECK(watcher.nudges.await(2));
    CHECK(watcher.subscription.problem() == std::nullopt);
}

TEST_CASE("a message may come in pieces, with pings between them") {
    std::string pong;
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (socket.accept() == nullptr) return;
        peer.send(WebSocketPeer::frame(0x01, notification.substr(0, 10)));
        peer.send(WebSocketPeer::frame(0x89, "are you there"));
        peer.send(WebSocketPeer::frame(0x00, notification.substr(10, 20)));
        peer.drip(WebSocketPeer::frame(0x80, notification.substr(30)), 1);
        if (const auto frame = socket.next(); frame && frame->opcode == 0xa) pong = frame->payload;
        socket.send(notification);
        peer.hang();
    });
    Watcher watcher(options_for(url_of(server)));
    CHECK(watcher.nudges.await(3));
    CHECK(pong == "are you there");
    CHECK(server.connections() == 1);
}

TEST_CASE("frames behind the handshake in one packet are not lost") {
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        socket.shake_hands(WebSocketPeer::frame(0x81, R"({"id":1,"result":"0xcd"})") +
                           WebSocketPeer::frame(0x81, notification));
        peer.hang();
    });
    Watcher watcher(options_for(url_of(server)));
    CHECK(watcher.nudges.await(2));
}

TEST_CASE("however a connection ends, there is another, and a nudge with it") {
    using Script = std::function<void(WebSocketPeer&)>;
    struct Row {
        const char* label;
        Script after_subscription;
        std::string problem;
        unsigned farewell;  // close code that the client sends, 0: none looked for
    };
    const auto sending = [](std::string wire) {
        return [=](WebSocketPeer& socket) {
            socket.peer().send(wire);
            socket.peer().gone_within(1'000);
        };
    };
    const auto frame = WebSocketPeer::frame;
    const std::string close_code("\x03\xe9", 2);
    const std::string many(2'000, ' ');
    const std::vector<Row> rows{
        {"closed", sending(frame(0x88, close_code)), "connection closed", 1001},
        {"closed without a code", sending(frame(0x88, "")), "connection closed", 0},
        {"cut", [](WebSocketPeer&) {}, "connection broken", 0},
        {"reset", [](WebSocketPeer& socket) { socket.peer().reset(); }, "connection broken", 0},
        {"cut in a frame", [](WebSocketPeer& socket) { socket.peer().send("\x81\x7d{"); },
         "connection broken", 0},
        {"garbage", sending("HTTP/1.1 400 Bad Request\r\n\r\n"), "no WebSocket or no JSON-RPC",
         1002},
        {"no JSON", sending(frame(0x81, "hello")), "no WebSocket or no JSON-RPC", 1002},
        {"no object", sending(frame(0x81, "[1]")), "no WebSocket or no JSON-RPC", 1002},
        {"bottomless", sending(frame(0x81, std::string(900, '['))), "no WebSocket or no JSON-RPC",
         1002},
        {"a piece of nothing", sending(frame(0x80, "{}")), "no WebSocket or no JSON-RPC", 1002},
        {"a message in a message", sending(frame(0x01, "{") + frame(0x81, "{}")),
         "no WebSocket or no JSON-RPC", 1002},
        {"too large", sending(frame(0x81, many)), "message too large", 1009},
        {"too large in pieces",
         sending(frame(0x01, many.substr(0, 900)) + frame(0x00, many.substr(0, 900))),
         "message too large", 1009},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        std::atomic<int> round{0};
        std::atomic<bool> seen{false};  // the trouble, by the test
        std::atomic<unsigned> farewell{0};
        StubServer server([&](StubPeer& peer) {
            WebSocketPeer socket(peer);
            if (++round > 1) {
                while (!seen && !peer.gone_within(1)) {
                }
            }
            if (socket.accept() == nullptr) return;
            if (round > 1) return peer.hang();
            row.after_subscription(socket);
            if (row.farewell == 0) return;
            if (const auto last = socket.next();
                last && last->opcode == 8 && last->payload.size() == 2) {
                farewell = static_cast<unsigned>(static_cast<std::uint8_t>(last->payload[0]) << 8U |
                                                 static_cast<std::uint8_t>(last->payload[1]));
            }
        });
        SubscriptionOptions options = options_for(url_of(server));
        options.message_bytes_max = 1'000;
        Watcher watcher(options);
        CHECK(watcher.await_problem(row.problem));
        seen = true;
        CHECK(watcher.nudges.await(2));
        CHECK(watcher.await_problem(std::nullopt));
        CHECK(farewell == row.farewell);
    }
}

TEST_CASE("a connection that is not made is tried again") {
    struct Row {
        const char* label;
        std::function<void(WebSocketPeer&)> script;
        std::string problem;
    };
    const auto answering = [](std::string wire) {
        return [=](WebSocketPeer& socket) {
            if (socket.read_head()) socket.peer().send(wire);
        };
    };
    const auto replying = [](std::string text) {
        return [=](WebSocketPeer& socket) {
            if (!socket.shake_hands() || !socket.next()) return;
            socket.send(text);
            socket.peer().gone_within(1'000);
        };
    };
    const std::vector<Row> rows{
        {"forbidden", answering(http(403, "key SECRET is not TOKEN")), "HTTP 403"},
        {"plain HTTP", answering(http(200, "{}")), "HTTP 200"},
        {"another protocol", answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"),
         "no WebSocket"},
        {"an echo of nothing",
         answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
         "no WebSocket"},
        {"no HTTP", answering("hello there\r\n"), "no HTTP"},
        {"closed", [](WebSocketPeer&) {}, "connection broken"},
        {"refused by the node",
         replying(R"({"id":1,"error":{"code":-32601,"message":"SECRET not found"}})"),
         "subscription refused"},
        {"no subscription in the reply", replying(R"({"id":1,"result":null})"),
         "subscription refused"},
        {"garbage for a reply", replying("?"), "no WebSocket or no JSON-RPC"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        StubServer server([&](StubPeer& peer) {
            WebSocketPeer socket(peer);
            row.script(socket);
        });
        Watcher watcher(options_for(url_of(server)));
        CHECK(watcher.await_problem(row.problem));
        const Stopwatch watch;
        while (server.connections() < 3 && watch.ms() < 5'000) std::this_thread::yield();
        CHECK(server.connections() >= 3);
        CHECK(watcher.nudges.count() == 0);
    }
    Watcher refused(options_for("ws://127.0.0.1:" + std::to_string(deserted_port()) + "/SECRET"));
    CHECK(refused.await_problem("connection refused"));
}

TEST_CASE("a node that asks to wait is left alone") {
    struct Row {
        const char* label;
        std::function<void(WebSocketPeer&)> script;
        std::string problem;
    };
    for (const Row& row : std::vector<Row>{
             {"by its status",
              [](WebSocketPeer& socket) {
                  socket.read_head();
                  socket.peer().send(http(429, "", "Retry-After: 7\r\n"));
              },
              "asked to wait 7 s"},
             {"by an error without an id",
              [](WebSocketPeer& socket) {
                  if (!socket.shake_hands() || !socket.next()) return;
                  socket.send(R"({"id":null,"error":{"code":-32005,"message":"limit exceeded"}})");
              },
              "subscription refused"},
             {"by an error",
              [](WebSocketPeer& socket) {
                  if (!socket.shake_hands() || !socket.next()) return;
                  socket.send(R"({"id":1,"error":{"code":-32005,"message":"limit exceeded"}})");
              },
              "subscription refused"}}) {
        CAPTURE(row.label);
        StubServer server([&](StubPeer& peer) {
            WebSocketPeer socket(peer);
            row.script(socket);
        });
        Watcher watcher(options_for(url_of(server)));
        CHECK(watcher.await_problem(row.problem));
        std::this_thread::sleep_for(150ms);
        CHECK(server.connections() == 1);
    }
}

TEST_CASE("a peer is pinged, and dropped when it is silent") {
    std::atomic<int> pings{0};
    std::atomic<bool> answers{true};
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (socket.accept() == nullptr) return;
        while (const auto frame = socket.next()) {
            if (frame->opcode != 9) continue;
            ++pings;
            if (answers) peer.send(WebSocketPeer::frame(0x8a, frame->payload));
        }
    });
    SubscriptionOptions options = options_for(url_of(server));
    options.ping_interval = 150ms;
    Watcher watcher(options);
    const Stopwatch watch;
    while (pings < 5 && watch.ms() < 5'000) std::this_thread::yield();
    CHECK(pings >= 5);
    CHECK(server.connections() == 1);
    CHECK(watcher.nudges.count() == 1);
    answers = false;
    CHECK(watcher.await_problem("connection silent"));
    CHECK(watcher.nudges.await(2));
}

TEST_CASE("a connection is recycled without a pause") {
    std::atomic<int> farewells{0};
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (socket.accept() == nullptr) return;
        while (const auto frame = socket.next()) {
            if (frame->opcode == 8 && frame->payload == std::string("\x03\xe9", 2)) ++farewells;
        }
    });
    SubscriptionOptions options = options_for(url_of(server));
    options.recycle_interval = 50ms;
    options.retry_interval = 60s;
    Watcher watcher(options);
    CHECK(watcher.nudges.await(4));
    CHECK(watcher.subscription.problem() == std::nullopt);
    CHECK(farewells >= 2);
}

TEST_CASE("a flood does not keep a connection beyond its time") {
    StubServer server([](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (socket.accept() == nullptr) return;
        while (socket.send(notification)) {
        }
    });
    SubscriptionOptions options = options_for(url_of(server));
    options.recycle_interval = 100ms;
    Watcher watcher(options);
    const Stopwatch watch;
    while (server.connections() < 3 && watch.ms() < 5'000) std::this_thread::yield();
    CHECK(server.connections() >= 3);
    CHECK(watcher.nudges.count() > 10);
}

TEST_CASE("it speaks TLS, and only with a certificate that is trusted") {
    const net::PemFolder folder;
    folder.write_pair("node.pem", "node.key", "localhost");
    StubServer server(
        [](StubPeer& peer) {
            WebSocketPeer socket(peer);
            if (socket.accept() == nullptr) return;
            socket.send(notification);
            peer.hang();
        },
        {folder.file("node.pem"), folder.file("node.key")});
    {
        Watcher watcher(options_for(url_of(server, "wss://localhost:")));
        CHECK(watcher.await_problem("certificate not trusted"));
    }
    const TrustedFile trusted(folder.file("node.pem"));
    Watcher watcher(options_for(url_of(server, "wss://localhost:")));
    CHECK(watcher.nudges.await(2));
}

TEST_CASE("stop ends it at once, wherever it is") {
    struct Row {
        const char* label;
        std::function<void(WebSocketPeer&)> script;
        const char* scheme = "ws://127.0.0.1:";
    };
    for (const Row& row : std::vector<Row>{
             {"in TLS", [](WebSocketPeer& socket) { socket.peer().hang(); }, "wss://127.0.0.1:"},
             {"in the handshake", [](WebSocketPeer& socket) { socket.peer().hang(); }},
             {"before the reply",
              [](WebSocketPeer& socket) {
                  socket.shake_hands();
                  socket.peer().hang();
              }},
             {"subscribed",
              [](WebSocketPeer& socket) {
                  socket.accept();
                  socket.peer().hang();
              }},
             {"in a flood",
              [](WebSocketPeer& socket) {
                  socket.accept();
                  while (socket.send(notification)) {
                  }
              }},
             {"between two connections", [](WebSocketPeer&) {}},
         }) {
        CAPTURE(row.label);
        StubServer server([&](StubPeer& peer) {
            WebSocketPeer socket(peer);
            row.script(socket);
        });
        SubscriptionOptions options = options_for(url_of(server, row.scheme));
        options.retry_interval = 60s;
        Watcher watcher(options);
        while (server.connections() == 0) std::this_thread::yield();
        std::this_thread::sleep_for(30ms);
        const Stopwatch watch;
        watcher.subscription.stop();
        CHECK(watch.ms() < 500);
        watcher.subscription.stop();
    }
}

TEST_CASE("only ws and wss are subscribed to, and no other URL is told") {
    for (const char* const url : {"http://node/SECRET", "SECRET", ""}) {
        try {
            Watcher watcher(options_for(url));
            FAIL("accepted");
        } catch (const std::invalid_argument& error) {
            CHECK(std::string(error.what()) == "the URL of a subscription is no ws or wss URL");
        }
    }
}

}  // namespace
}  // namespace support
