#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "support/stub_server.hpp"

namespace support {

// Sec-WebSocket-Accept to a Sec-WebSocket-Key (RFC 6455, 4.2.2).
inline std::string accept_of(const std::string& key) {
    const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, 20> digest{};
    ::EVP_Digest(text.data(), text.size(), digest.data(), nullptr, ::EVP_sha1(), nullptr);
    std::array<unsigned char, 29> encoded{};
    ::EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(digest.size()));
    return reinterpret_cast<const char*>(encoded.data());
}

// The server's end of a WebSocket; what it sends may be as wrong as the test wants.
class WebSocketPeer {
public:
    struct Frame {
        unsigned opcode = 0;
        bool masked = false;
        std::string payload;
    };

    explicit WebSocketPeer(StubPeer& peer) : peer_(peer) {}

    [[nodiscard]] const std::string& head() const { return head_; }
    [[nodiscard]] StubPeer& peer() { return peer_; }

    bool read_head() {
        std::size_t end = 0;
        while ((end = arrived_.find("\r\n\r\n")) == std::string::npos) {
            if (!read_more()) return false;
        }
        head_ = arrived_.substr(0, end + 2);
        arrived_.erase(0, end + 4);
        return true;
    }

    [[nodiscard]] std::string key() const {
        constexpr std::string_view field = "Sec-WebSocket-Key: ";
        const std::size_t begin = head_.find(field) + field.size();
        return head_.substr(begin, head_.find('\r', begin) - begin);
    }

    // `behind`: bytes in the same packet.
    bool shake_hands(std::string_view behind = {}) {
        return read_head() && peer_.send(
                                  "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n"
                                  "Connection: Upgrade\r\nSec-WebSocket-Accept: " +
                                  accept_of(key()) + "\r\n\r\n" + std::string(behind));
    }

    // Shakes hands and says yes to a subscription; its request, or null when the client left.
    nlohmann::json accept() {
        if (!shake_hands()) return nullptr;
        const auto frame = next();
        if (!frame) return nullptr;
        auto request = nlohmann::json::parse(frame->payload);
        send(R"({"jsonrpc":"2.0","id":1,"result":"0xcd"})");
        return request;
    }

    std::optional<Frame> next() {
        for (;;) {
            if (auto frame = take()) return frame;
            if (!read_more()) return std::nullopt;
        }
    }

    static std::string frame(unsigned first_byte, std::string_view payload) {
        std::string bytes(1, static_cast<char>(first_byte));
        const std::size_t size = payload.size();
        if (size < 126) {
            bytes += static_cast<char>(size);
        } else {
            const int length_bytes = size <= 0xffff ? 2 : 8;
            bytes += static_cast<char>(length_bytes == 2 ? 126 : 127);
            for (int at = length_bytes - 1; at >= 0; --at) {
                bytes += static_cast<char>(size >> (8 * at) & 0xffU);
            }
        }
        return bytes.append(payload);
    }

    // A text frame of its own.
    bool send(std::string_view text) { return peer_.send(frame(0x81, text)); }

private:
    bool read_more() {
        const std::string more = peer_.read_some();
        arrived_ += more;
        return !more.empty();
    }

    [[nodiscard]] unsigned byte(std::size_t at) const {
        return static_cast<std::uint8_t>(arrived_.at(at));
    }

    std::optional<Frame> take() {
        if (arrived_.size() < 2) return std::nullopt;
        Frame frame{byte(0) & 0x0fU, (byte(1) & 0x80U) != 0, {}};
        std::size_t size = byte(1) & 0x7fU;
        std::size_t at = 2;
        if (size >= 126) {
            const std::size_t length_bytes = size == 126 ? 2 : 8;
            if (arrived_.size() < at + length_bytes) return std::nullopt;
            size = 0;
            for (const std::size_t end = at + length_bytes; at < end; ++at)
                size = size << 8U | byte(at);
        }
        const std::size_t mask = at;
        if (frame.masked) at += 4;
        if (arrived_.size() < at + size) return std::nullopt;
        for (std::size_t offset = 0; offset < size; ++offset) {
            const unsigned key = frame.masked ? byte(mask + offset % 4) : 0;
            frame.payload += static_cast<char>(byte(at + offset) ^ key);
        }
        arrived_.erase(0, at + size);
        return frame;
    }

    StubPeer& peer_;
    std::string arrived_;
    std::string head_;
};

inline const std::string notification =
    R"({"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0xcd","result":{}}})";

}  // namespace support
