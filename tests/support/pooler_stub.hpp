#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

#include "base/descriptor.hpp"
#include "base/stop_token.hpp"

namespace support {

// Stands between libpq and PostgreSQL on local sockets, and tells a process number of its own, as
// poolers do. Everything else passes. One connection at a time.
class PoolerStub {
public:
    // Both are directories of sockets; `directory` is made.
    PoolerStub(const std::string& directory, const std::string& server)
        : server_(socket_in(server)), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        std::filesystem::create_directory(directory);
        const sockaddr_un address = address_of(socket_in(directory));
        if (::bind(listener_.get(), as_any(address), sizeof address) != 0 ||
            ::listen(listener_.get(), 1) != 0) {
            throw std::system_error(errno, std::generic_category(), directory);
        }
        thread_ = std::jthread([this] { serve(); });
    }
    ~PoolerStub() { stop_.request_stop(); }
    PoolerStub(const PoolerStub&) = delete;
    PoolerStub& operator=(const PoolerStub&) = delete;

private:
    static std::string socket_in(const std::string& directory) {
        return directory + "/.s.PGSQL.5432";
    }

    static sockaddr_un address_of(const std::string& path) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        return address;
    }

    static const sockaddr* as_any(const sockaddr_un& address) {
        return reinterpret_cast<const sockaddr*>(&address);
    }

    // Until somebody wants something, or the end.
    [[nodiscard]] bool wait(std::array<pollfd, 3>& polled) const {
        polled[2] = {.fd = stop_.descriptor(), .events = POLLIN, .revents = 0};
        while (::poll(polled.data(), polled.size(), -1) < 0) continue;
        return polled[2].revents == 0;
    }

    void serve() {
        std::array<pollfd, 3> polled{{{.fd = listener_.get(), .events = POLLIN, .revents = 0},
                                      {.fd = -1, .events = 0, .revents = 0},
                                      {}}};
        while (wait(polled)) {
            const base::Descriptor client(
                ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            const base::Descriptor server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
            const sockaddr_un address = address_of(server_);
            if (::connect(server.get(), as_any(address), sizeof address) != 0) continue;
            relay(client.get(), server.get());
        }
    }

    void relay(int client, int server) {
        std::string greeting;
        bool is_greeting = true;
        std::array<pollfd, 3> polled{{{.fd = client, .events = POLLIN, .revents = 0},
                                      {.fd = server, .events = POLLIN, .revents = 0},
                                      {}}};
        std::array<char, 4'096> part{};
        while (wait(polled)) {
            const bool is_answer = polled[1].revents != 0;
            const ssize_t count = ::read(is_answer ? server : client, part.data(), part.size());
            if (count <= 0) return;
            std::string bytes(part.data(), static_cast<std::size_t>(count));
            if (is_answer && is_greeting) {
                greeting += bytes;
                if (!change_process(greeting)) continue;
                is_greeting = false;
                bytes = greeting;
            }
            if (::send(is_answer ? client : server, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) {
                return;
            }
        }
    }

    // In the message that tells it; false: that is not there yet.
    static bool change_process(std::string& messages) {
        std::size_t at = 0;
        while (messages.size() >= at + 9) {
            if (messages[at] == 'K') {
                messages[at + 8] = static_cast<char>(messages[at + 8] ^ 1);
                return true;
            }
            std::size_t length = 0;
            for (std::size_t byte = at + 1; byte < at + 5; ++byte) {
                length = length << 8U | static_cast<std::uint8_t>(messages[byte]);
            }
            at += 1 + length;
        }
        return false;
    }

    const std::string server_;
    base::StopToken stop_;
    base::Descriptor listener_;
    std::jthread thread_;
};

}  // namespace support
