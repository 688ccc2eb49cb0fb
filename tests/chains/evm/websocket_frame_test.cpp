#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "chains/evm/websocket_stub.hpp"
#include "chains/jsonrpc/websocket_frame.hpp"

namespace support {
namespace {

using chains::jsonrpc::Frame;
using chains::jsonrpc::NoFrame;
using chains::jsonrpc::Opcode;
using chains::jsonrpc::take_frame;

std::string bytes(std::initializer_list<unsigned> values) {
    std::string text;
    for (const unsigned value : values) text += static_cast<char>(value);
    return text;
}

TEST_CASE("the key is answered as in RFC 6455, 1.3") {
    CHECK(chains::jsonrpc::accept_of("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST_CASE("frames as in RFC 6455, 5.7") {
    std::string arrived = bytes({0x81, 0x05}) + "Hello" + bytes({0x01, 0x03}) + "Hel" +
                          bytes({0x80, 0x02}) + "lo" + bytes({0x89, 0x05}) + "Hello" + "\x81";
    struct Row {
        Opcode opcode;
        bool is_final;
        std::string payload;
    };
    for (const Row& row : std::vector<Row>{{Opcode::text, true, "Hello"},
                                           {Opcode::text, false, "Hel"},
                                           {Opcode::continuation, true, "lo"},
                                           {Opcode::ping, true, "Hello"}}) {
        const auto taken = take_frame(arrived, 100);
        REQUIRE(std::holds_alternative<Frame>(taken));
        CHECK(std::get<Frame>(taken).opcode == row.opcode);
        CHECK(std::get<Frame>(taken).is_final == row.is_final);
        CHECK(std::get<Frame>(taken).payload == row.payload);
    }
    CHECK(std::get<NoFrame>(take_frame(arrived, 100)) == NoFrame::incomplete);
    CHECK(arrived == "\x81");

    CHECK(chains::jsonrpc::masked_frame(Opcode::text, "Hello", {0x37, 0xfa, 0x21, 0x3d}) ==
          bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}));
}

TEST_CASE("every form of the length, to the byte") {
    for (const std::size_t size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U, 70'000U}) {
        CAPTURE(size);
        const std::string payload(size, 'x');
        const std::string whole = WebSocketPeer::frame(0x82, payload);
        for (std::size_t missing = 1; missing <= std::min<std::size_t>(whole.size(), 12);
             ++missing) {
            std::string part = whole.substr(0, whole.size() - missing);
            CHECK(std::get<NoFrame>(take_frame(part, size)) == NoFrame::incomplete);
        }
        std::string arrived = whole;
        const auto taken = take_frame(arrived, size);
        REQUIRE(std::holds_alternative<Frame>(taken));
        CHECK(std::get<Frame>(taken).payload == payload);
        CHECK(arrived.empty());
        arrived = whole;
        if (size > 0) CHECK(std::get<NoFrame>(take_frame(arrived, size - 1)) == NoFrame::too_large);

        const std::string masked =
            chains::jsonrpc::masked_frame(Opcode::binary, payload, {0, 0, 0, 0});
        const std::size_t head = whole.size() - size;
        CHECK(masked.substr(head + 4) == payload);
        CHECK(masked.size() == whole.size() + 4);
        CHECK(static_cast<std::uint8_t>(masked[1]) == (static_cast<std::uint8_t>(whole[1]) | 0x80));
        CHECK(masked.substr(2, head - 2) == whole.substr(2, head - 2));
    }
}

TEST_CASE("what a server must not send is malformed") {
    struct Row {
        const char* label;
        std::string arrived;
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
         }) {
        CAPTURE(row.label);
        std::string arrived = row.arrived;
        CHECK(std::get<NoFrame>(take_frame(arrived, 1'000)) == NoFrame::malformed);
    }
    std::string endless = bytes({0x81, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
    CHECK(std::get<NoFrame>(take_frame(endless, SIZE_MAX - 1)) == NoFrame::too_large);
}

}  // namespace
}  // namespace support
