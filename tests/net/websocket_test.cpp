#include "net/websocket.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/websocket_stub.hpp"

// Frames as they come and go. How a connection begins and ends is in
// tests/chains/evm/subscription_test.cpp.
namespace net {
namespace {

using namespace std::chrono_literals;
using support::StubPeer;
using support::StubServer;
using support::WebSocketPeer;
using End = WebSocket::End;

std::string bytes(std::initializer_list<unsigned> values) {
    std::string text;
    for (const unsigned value : values) text += static_cast<char>(value);
    return text;
}

WebSocket::Deadline soon() {
    return std::chrono::steady_clock::now() + 5s;
}

// A connection whose peer sends these bytes behind the handshake.
struct Fed {
    explicit Fed(std::string wire, std::size_t message_bytes_max = 1'000'000)
        : server([wire = std::move(wire)](StubPeer& peer) {
              WebSocketPeer peer_socket(peer);
              if (!peer_socket.shake_hands() || !peer.send(wire)) return;
              peer.gone_within(1'000);
          }),
          socket(parse_url("ws://127.0.0.1:" + std::to_string(server.port())).value(),
                 {.message_bytes_max = message_bytes_max}, nullptr) {
        REQUIRE(std::holds_alternative<std::monostate>(socket.open()));
    }

    // The message, or `end` and how.
    std::string next() {
        const auto received = socket.receive(soon());
        if (const auto* const text = std::get_if<std::string>(&received)) return *text;
        return "end " + std::to_string(static_cast<int>(std::get<End>(received)));
    }

    StubServer server;
    WebSocket socket;
};

std::string ended(End end) {
    return "end " + std::to_string(static_cast<int>(end));
}

TEST_CASE("the stub answers a key as in RFC 6455, 1.3") {
    CHECK(support::accept_of("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("frames as in RFC 6455, 5.7") {
    Fed fed(bytes({0x81, 0x05}) + "Hello" + bytes({0x01, 0x03}) + "Hel" + bytes({0x89, 0x05}) +
            "Hello" + bytes({0x80, 0x02}) + "lo" + bytes({0x82, 0x01}) + "!");
    CHECK(fed.next() == "Hello");
    CHECK(fed.next() == "Hello");
    CHECK(fed.next() == "!");
}

TEST_CASE("what we send is whole and masked") {
    std::vector<WebSocketPeer::Frame> frames;
    StubServer server([&](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (!socket.shake_hands()) return;
        for (int count = 0; count < 3; ++count) {
            if (const auto frame = socket.next()) frames.push_back(*frame);
        }
        socket.send("seen");
        peer.gone_within(1'000);
    });
    WebSocket socket(parse_url("ws://127.0.0.1:" + std::to_string(server.port())).value(), {},
                     nullptr);
    REQUIRE(std::holds_alternative<std::monostate>(socket.open()));
    const std::vector<std::string> texts{"Hello", std::string(300, 'x'), std::string(70'000, 'y')};
    for (const std::string& text : texts) CHECK_FALSE(socket.send(text));
    REQUIRE(std::holds_alternative<std::string>(socket.receive(soon())));
    REQUIRE(frames.size() == 3);
    for (std::size_t at = 0; at < 3; ++at) {
        CHECK(frames[at].opcode == 1);
        CHECK(frames[at].masked);
        CHECK(frames[at].payload == texts[at]);
    }
}

TEST_CASE("every form of the length, to the byte") {
    for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U, 70'000U}) {
        CAPTURE(size);
        const std::string payload(size, 'x');
        const std::string whole = WebSocketPeer::frame(0x81, payload);
        CHECK(Fed(whole, std::max<std::size_t>(size, 1)).next() == payload);
        if (size > 1) CHECK(Fed(whole, size - 1).next() == ended(End::too_large));
        for (const std::size_t missing : {1U, 2U, 12U}) {
            if (missing > whole.size()) continue;
            CHECK(Fed(whole.substr(0, whole.size() - missing)).next() == ended(End::broken));
        }
    }
}

TEST_CASE("what a server must not send is malformed") {
    struct Row {
        const char* label;
        std::string arrived;
        End end = End::malformed;
    };
    for (const Row& row : std::vector<Row>{
             {"reserved bit", bytes({0xc1, 0x00})},
             {"unknown opcode", bytes({0x83, 0x00})},
             {"unknown control opcode", bytes({0x8b, 0x00})},
             {"masked", bytes({0x81, 0x80, 1, 2, 3, 4})},
             {"a ping in pieces", bytes({0x09, 0x00})},
             {"a long ping", bytes({0x89, 126, 0, 126})},
             {"a short length in two bytes", bytes({0x81, 126, 0, 125})},
             {"a medium length in eight", bytes({0x81, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff})},
             {"endless", bytes({0x81, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
              End::too_large},
             {"longer than there are numbers",
              bytes({0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), End::too_large},
             {"text that is no UTF-8", bytes({0x81, 0x02, 0xc3, 0x28})},
         }) {
        CAPTURE(row.label);
        CHECK(Fed(row.arrived).next() == ended(row.end));
    }
}

TEST_CASE("a deadline that passes costs no message") {
    StubServer server([](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (!socket.shake_hands()) return;
        if (socket.next()) socket.send("late");
        peer.gone_within(1'000);
    });
    WebSocket socket(parse_url("ws://127.0.0.1:" + std::to_string(server.port())).value(), {},
                     nullptr);
    REQUIRE(std::holds_alternative<std::monostate>(socket.open()));
    const auto now = std::chrono::steady_clock::now();
    CHECK(std::get<End>(socket.receive(now)) == End::timed_out);
    CHECK(std::get<End>(socket.receive(now + 20ms)) == End::timed_out);
    CHECK_FALSE(socket.send("now"));
    const auto received = socket.receive(soon());
    REQUIRE(std::holds_alternative<std::string>(received));
    CHECK(std::get<std::string>(received) == "late");
}

TEST_CASE("a new connection takes the place of one that is being read") {
    StubServer server([](StubPeer& peer) {
        WebSocketPeer socket(peer);
        if (socket.shake_hands()) peer.hang();
    });
    WebSocket socket(parse_url("ws://127.0.0.1:" + std::to_string(server.port())).value(), {},
                     nullptr);
    for (int round = 0; round < 3; ++round) {
        REQUIRE(std::holds_alternative<std::monostate>(socket.open()));
        CHECK(std::get<End>(socket.receive(std::chrono::steady_clock::now())) == End::timed_out);
    }
    CHECK(server.connections() == 3);
}

}  // namespace
}  // namespace net
