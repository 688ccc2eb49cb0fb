#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

// The client's side of the frames of RFC 6455, chapter 5, without extensions.
namespace chains::jsonrpc {

enum class Opcode : std::uint8_t {
    continuation = 0x0,
    text = 0x1,
    binary = 0x2,
    close = 0x8,
    ping = 0x9,
    pong = 0xa,
};

[[nodiscard]] constexpr bool is_control(Opcode opcode) {
    return (static_cast<unsigned>(opcode) & 0x8U) != 0;
}

struct Frame {
    Opcode opcode = Opcode::text;
    bool is_final = true;
    std::string payload;
};

enum class NoFrame {
    incomplete,  // more has to come
    malformed,   // reserved bits, masked, unknown, a control frame in pieces, a length in long form
    too_large,
};

// Takes the first frame out of what has arrived.
[[nodiscard]] std::variant<Frame, NoFrame> take_frame(std::string& arrived,
                                                      std::size_t payload_bytes_max);

// A final frame, masked as clients have to.
[[nodiscard]] std::string masked_frame(Opcode opcode, std::string_view payload,
                                       const std::array<std::uint8_t, 4>& mask);

// Sec-WebSocket-Accept to a Sec-WebSocket-Key (4.2.2).
[[nodiscard]] std::string accept_of(std::string_view key);

}  // namespace chains::jsonrpc
