#include "chains/jsonrpc/websocket.hpp"

#include <openssl/rand.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "chains/jsonrpc/base64.hpp"
#include "chains/jsonrpc/http_response.hpp"
#include "chains/jsonrpc/retry_after.hpp"
#include "chains/jsonrpc/trouble.hpp"

namespace chains::jsonrpc {
namespace {

constexpr int switching_protocols = 101;
constexpr std::chrono::milliseconds write_max{5'000};
constexpr std::chrono::milliseconds farewell_max{50};

template <std::size_t Size>
std::array<std::uint8_t, Size> random_bytes() {
    std::array<std::uint8_t, Size> bytes{};
    if (::RAND_bytes(bytes.data(), Size) != 1) throw std::runtime_error("no random bytes");
    return bytes;
}

std::string random_key() {
    const auto bytes = random_bytes<16>();
    return base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string opening(const Url& url, const std::string& key) {
    std::string text = "GET " + url.target + " HTTP/1.1\r\nHost: " + url.authority();
    if (const std::string authorization = url.authorization(); !authorization.empty()) {
        text.append("\r\nAuthorization: ").append(authorization);
    }
    return text
        .append(
            "\r\nUser-Agent: posthouse\r\nUpgrade: websocket\r\nConnection: Upgrade"
            "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ")
        .append(key)
        .append("\r\n\r\n");
}

Trouble trouble_of(HttpFault fault) {
    switch (fault) {
        case HttpFault::timed_out:
            return trouble(Trouble::Kind::timed_out, "no answer to the handshake");
        case HttpFault::stopped:
            return stopped();
        case HttpFault::malformed:
        case HttpFault::too_large:
            return trouble(Trouble::Kind::garbled, "no HTTP");
        case HttpFault::silent_end:
        case HttpFault::broken:
            break;
    }
    return trouble(Trouble::Kind::lost, "connection broken");
}

std::optional<Trouble> refusal(const HttpUpgrade& upgrade, const std::string& key,
                               domain::Timestamp now) {
    const int status = upgrade.status;
    if (status == 429 || (status == 503 && upgrade.retry_after)) {
        return throttled(throttle_wait(upgrade.retry_after, now));
    }
    if (status != switching_protocols) {
        return trouble(Trouble::Kind::garbled, "HTTP " + std::to_string(status));
    }
    if (!upgrade.to_websocket || upgrade.websocket_accept != accept_of(key)) {
        return trouble(Trouble::Kind::garbled, "no WebSocket");
    }
    return std::nullopt;
}

WebSocket::End end_of(Connection::End end) {
    switch (end) {
        case Connection::End::timed_out:
            return WebSocket::End::timed_out;
        case Connection::End::stopped:
            return WebSocket::End::stopped;
        default:
            return WebSocket::End::broken;
    }
}

}  // namespace

WebSocket::WebSocket(std::unique_ptr<Connection> connection, const Signal& stop,
                     std::size_t message_bytes_max, std::string arrived)
    : connection_(std::move(connection)),
      stop_(stop),
      message_bytes_max_(message_bytes_max),
      arrived_(std::move(arrived)) {}

std::variant<std::unique_ptr<WebSocket>, Trouble> WebSocket::open(
    const Url& url, const TlsContext* tls, Deadline deadline, const Signal& stop,
    std::size_t message_bytes_max, domain::Timestamp now) {
    auto connected = connect(url, tls, deadline, stop);
    if (auto* const trouble = std::get_if<Trouble>(&connected)) return std::move(*trouble);
    auto connection = std::get<std::unique_ptr<Connection>>(std::move(connected));

    const std::string key = random_key();
    // Whether it was taken, the answer tells.
    [[maybe_unused]] const auto end = connection->write(opening(url, key), deadline, stop);
    auto answer = HttpResponseReader(*connection, deadline, stop, 0).read_upgrade();
    if (const auto* const fault = std::get_if<HttpFault>(&answer)) return trouble_of(*fault);
    auto& upgrade = std::get<HttpUpgrade>(answer);
    if (auto refused = refusal(upgrade, key, now)) return std::move(*refused);
    return std::unique_ptr<WebSocket>(
        new WebSocket(std::move(connection), stop, message_bytes_max, std::move(upgrade.rest)));
}

std::variant<std::string, WebSocket::End> WebSocket::receive(Deadline deadline) {
    for (;;) {
        const auto taken = take_frame(arrived_, message_bytes_max_ - message_.size());
        std::optional<End> end;
        if (const auto* const frame = std::get_if<Frame>(&taken)) {
            end = take(*frame);
        } else if (std::get<NoFrame>(taken) == NoFrame::incomplete) {
            end = read_more(deadline);
        } else {
            end = std::get<NoFrame>(taken) == NoFrame::too_large ? End::too_large : End::malformed;
        }
        if (end) return *end;
        if (std::exchange(is_whole_, false)) return std::exchange(message_, {});
    }
}

std::optional<WebSocket::End> WebSocket::take(const Frame& frame) {
    if (is_control(frame.opcode)) return take_control(frame);
    if (in_message_ != (frame.opcode == Opcode::continuation)) return End::malformed;
    message_.append(frame.payload);
    in_message_ = !frame.is_final;
    is_whole_ = frame.is_final;
    return std::nullopt;
}

std::optional<WebSocket::End> WebSocket::take_control(const Frame& frame) {
    if (frame.opcode == Opcode::ping) return send(Opcode::pong, frame.payload);
    if (frame.opcode == Opcode::pong) return std::nullopt;
    // The same code back (5.5.1).
    const std::string_view code = std::string_view(frame.payload).substr(0, 2);
    [[maybe_unused]] const auto end = write(Opcode::close, code, farewell_max);
    return End::closed;
}

std::optional<WebSocket::End> WebSocket::read_more(Deadline deadline) {
    std::array<char, 16U << 10U> space;
    const Connection::Received received = connection_->read(space, deadline, stop_);
    if (received.end != Connection::End::none) return end_of(received.end);
    heard_ = true;
    arrived_.append(space.data(), received.bytes);
    return std::nullopt;
}

std::optional<WebSocket::End> WebSocket::send(Opcode opcode, std::string_view payload) {
    return write(opcode, payload, write_max);
}

void WebSocket::close(unsigned code) {
    const std::string payload{static_cast<char>(code >> 8U & 0xffU),
                              static_cast<char>(code & 0xffU)};
    [[maybe_unused]] const auto end = write(Opcode::close, payload, farewell_max);
}

std::optional<WebSocket::End> WebSocket::write(Opcode opcode, std::string_view payload,
                                               std::chrono::milliseconds time) {
    const auto end = connection_->write(masked_frame(opcode, payload, random_bytes<4>()),
                                        std::chrono::steady_clock::now() + time, stop_);
    if (end == Connection::End::none) return std::nullopt;
    // Half a frame may be out.
    return end == Connection::End::stopped ? End::stopped : End::broken;
}

bool WebSocket::has_heard() {
    return std::exchange(heard_, false);
}

}  // namespace chains::jsonrpc
