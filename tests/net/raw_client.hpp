#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace net {

struct RawAnswer {
    int status = 0;
    std::string head;
    std::string body;

    [[nodiscard]] bool has(std::string_view text) const {
        return head.find(text) != std::string::npos;
    }
};

// A client that sends exactly the bytes it is told. Waits ten seconds at most.
class RawClient {
public:
    explicit RawClient(int port, int receive_buffer = 0, std::uint32_t own_address = INADDR_ANY)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (receive_buffer > 0) {
            ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer,
                         sizeof receive_buffer);
        }
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (own_address != INADDR_ANY) {
            sockaddr_in own{};
            own.sin_family = AF_INET;
            own.sin_addr.s_addr = htonl(own_address);
            if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) {
                throw std::runtime_error("bind");
            }
        }
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
            0) {
            throw std::runtime_error("connect");
        }
    }
    RawClient(RawClient&&) = default;
    RawClient& operator=(RawClient&&) = default;
    virtual ~RawClient() = default;

    // False: the server has closed.
    virtual bool send(std::string_view bytes) { return send_raw(bytes); }
    bool send_raw(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }

    // Nothing: the server closed, or was silent for too long.
    [[nodiscard]] std::optional<RawAnswer> answer(bool without_body = false) {
        std::size_t end = 0;
        while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
            if (!receive()) return std::nullopt;
        }
        RawAnswer answer;
        answer.head = input_.substr(0, end + 4);
        std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
        constexpr std::string_view name = "Content-Length: ";
        std::size_t length = 0;
        if (const auto at = answer.head.find(name); at != std::string::npos && !without_body) {
            std::from_chars(answer.head.data() + at + name.size(),
                            answer.head.data() + answer.head.size(), length);
        }
        while (input_.size() < end + 4 + length) {
            if (!receive()) return std::nullopt;
        }
        answer.body = input_.substr(end + 4, length);
        input_.erase(0, end + 4 + length);
        return answer;
    }

    [[nodiscard]] std::optional<RawAnswer> ask(std::string_view bytes) {
        send(bytes);
        return answer();
    }

    // True: nothing more came before the server closed in an orderly way.
    [[nodiscard]] bool ends() { return input_.empty() && !receive() && end_seen_; }

    // Something can be received now, or the server has closed; waits for it so long at most.
    [[nodiscard]] bool is_readable(int milliseconds) {
        if (!input_.empty()) return true;
        pollfd watched{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        return ::poll(&watched, 1, milliseconds) > 0;
    }

    void finish_sending() { ::shutdown(socket_.get(), SHUT_WR); }

    // How many bytes the next receive delivers; all of an answer when it was sent in one piece.
    [[nodiscard]] std::size_t receive_once() {
        const auto before = input_.size();
        return receive() ? input_.size() - before : 0;
    }

protected:
    // As recv does.
    virtual ssize_t receive_some(std::span<char> space) { return receive_raw(space); }
    ssize_t receive_raw(std::span<char> space) {
        return ::recv(socket_.get(), space.data(), space.size(), 0);
    }

private:
    bool receive() {
        std::array<char, 65536> chunk;
        const auto count = receive_some(chunk);
        end_seen_ = count == 0;
        if (count <= 0) return false;
        input_.append(chunk.data(), static_cast<std::size_t>(count));
        return true;
    }

    base::Descriptor socket_;
    std::string input_;
    bool end_seen_ = false;
};

inline std::string get(std::string_view path) {
    return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

inline std::string post(std::string_view path, std::string_view body,
                        std::string_view more_headers = {}) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n" + std::string(more_headers) + "\r\n" + std::string(body);
}

}  // namespace net
