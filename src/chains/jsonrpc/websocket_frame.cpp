#include "chains/jsonrpc/websocket_frame.hpp"

#include <openssl/evp.h>

#include "chains/jsonrpc/base64.hpp"

namespace chains::jsonrpc {
namespace {

constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::size_t short_max = 125;
constexpr std::size_t medium_max = 0xffff;
constexpr std::uint8_t medium_mark = 126;
constexpr std::uint8_t long_mark = 127;

bool is_known(std::uint8_t opcode) {
    return opcode <= 0x2 || (opcode >= 0x8 && opcode <= 0xa);
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8U | static_cast<std::uint8_t>(byte);
    return value;
}

void append_big_endian(std::string& text, std::uint64_t value, std::size_t bytes) {
    while (bytes-- > 0) text += static_cast<char>(value >> (8 * bytes) & 0xffU);
}

// Bytes of the length behind its mark, and the smallest that may be written so.
struct LengthForm {
    std::size_t bytes;
    std::uint64_t min;
};

LengthForm form_of(std::uint8_t mark) {
    if (mark == medium_mark) return {2, short_max + 1};
    if (mark == long_mark) return {8, medium_max + 1};
    return {0, 0};
}

}  // namespace

std::variant<Frame, NoFrame> take_frame(std::string& arrived, std::size_t payload_bytes_max) {
    if (arrived.size() < 2) return NoFrame::incomplete;
    const auto first = static_cast<std::uint8_t>(arrived[0]);
    const auto second = static_cast<std::uint8_t>(arrived[1]);
    const auto code = static_cast<std::uint8_t>(first & 0x0fU);
    if ((first & reserved_bits) != 0 || (second & mask_bit) != 0 || !is_known(code)) {
        return NoFrame::malformed;
    }
    Frame frame{static_cast<Opcode>(code), (first & final_bit) != 0, {}};
    if (is_control(frame.opcode) && (!frame.is_final || second > short_max)) {
        return NoFrame::malformed;
    }
    const LengthForm form = form_of(second);
    const std::size_t head = 2 + form.bytes;
    if (arrived.size() < head) return NoFrame::incomplete;
    const std::uint64_t length =
        form.bytes == 0 ? second : big_endian(std::string_view(arrived).substr(2, form.bytes));
    if (length < form.min) return NoFrame::malformed;
    if (length > payload_bytes_max) return NoFrame::too_large;
    if (arrived.size() - head < length) return NoFrame::incomplete;
    frame.payload = arrived.substr(head, length);
    arrived.erase(0, head + length);
    return frame;
}

std::string masked_frame(Opcode opcode, std::string_view payload,
                         const std::array<std::uint8_t, 4>& mask) {
    std::string frame(1, static_cast<char>(final_bit | static_cast<std::uint8_t>(opcode)));
    if (payload.size() <= short_max) {
        frame += static_cast<char>(mask_bit | payload.size());
    } else if (payload.size() <= medium_max) {
        frame += static_cast<char>(mask_bit | medium_mark);
        append_big_endian(frame, payload.size(), 2);
    } else {
        frame += static_cast<char>(mask_bit | long_mark);
        append_big_endian(frame, payload.size(), 8);
    }
    for (const std::uint8_t byte : mask) frame += static_cast<char>(byte);
    for (std::size_t at = 0; at < payload.size(); ++at) {
        frame += static_cast<char>(static_cast<std::uint8_t>(payload[at]) ^ mask[at % 4]);
    }
    return frame;
}

std::string accept_of(std::string_view key) {
    const std::string text = std::string(key).append("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    std::array<unsigned char, 20> digest{};
    ::EVP_Digest(text.data(), text.size(), digest.data(), nullptr, ::EVP_sha1(), nullptr);
    return base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace chains::jsonrpc
