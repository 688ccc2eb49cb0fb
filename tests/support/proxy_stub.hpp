#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/stub_server.hpp"

namespace support {

// A proxy that leads every tunnel to one loopback port, whatever name was asked for.
class ProxyStub {
public:
    explicit ProxyStub(std::uint16_t port, std::string refusal = {})
        : port_(port),
          refusal_(std::move(refusal)),
          server_([this](StubPeer& peer) { serve(peer); }) {}

    [[nodiscard]] std::string url(std::string_view credentials = {}) const {
        return "http://" + std::string(credentials) + "127.0.0.1:" + std::to_string(server_.port());
    }
    // Of the CONNECTs so far.
    [[nodiscard]] std::vector<std::string> heads() const {
        const std::lock_guard lock(mutex_);
        return heads_;
    }

private:
    void serve(StubPeer& peer) {
        std::string head;
        while (head.find("\r\n\r\n") == std::string::npos) {
            const std::string more = peer.read_some();
            if (more.empty()) return;
            head += more;
        }
        {
            const std::lock_guard lock(mutex_);
            heads_.push_back(head);
        }
        if (!refusal_.empty()) {
            peer.send(refusal_);
            return;
        }
        peer.send("HTTP/1.1 200 Established\r\nContent-Length: 5\r\n\r\n");  // a length of nothing
        pass_on(peer);
    }

    void pass_on(StubPeer& peer) const {
        const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_in address = StubServer::loopback(port_);
        if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
            std::thread back([&] {
                std::array<char, 4'096> space;
                for (;;) {
                    const ssize_t count = ::recv(server, space.data(), space.size(), 0);
                    if (count <= 0) return;
                    peer.send({space.data(), static_cast<std::size_t>(count)});
                }
            });
            for (std::string more = peer.read_some(); !more.empty(); more = peer.read_some()) {
                static_cast<void>(::send(server, more.data(), more.size(), MSG_NOSIGNAL));
            }
            ::shutdown(server, SHUT_RDWR);
            back.join();
        }
        ::close(server);
    }

    const std::uint16_t port_;
    const std::string refusal_;
    mutable std::mutex mutex_;
    std::vector<std::string> heads_;
    StubServer server_;
};

}  // namespace support
