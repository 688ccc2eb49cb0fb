#include "platform/service_manager.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

using namespace std::chrono_literals;

namespace {

// The socket systemd would listen on, in the abstract namespace so that no file stays behind.
class Manager {
public:
    Manager() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        REQUIRE(socket_ >= 0);
        const std::string name = "posthouse-test-" + std::to_string(::getpid());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(&address.sun_path[1], name.data(), name.size());
        const auto length =
            static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
        REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
        REQUIRE(::setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1) == 0);
    }

    ~Manager() {
        ::unsetenv("NOTIFY_SOCKET");
        ::close(socket_);
    }

    // What was said and not heard yet; empty when nothing.
    std::string heard() const {
        std::array<char, 512> text{};
        const ssize_t size = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
        return size < 0 ? std::string{} : std::string(text.data(), static_cast<std::size_t>(size));
    }

private:
    int socket_;
};

}  // namespace

TEST_CASE("the service manager hears each word") {
    const Manager manager;
    platform::ServiceManager service;

    service.ready();
    CHECK(manager.heard() == "READY=1");
    service.status("12 requests wait\nREADY=0");
    CHECK(manager.heard() == "STATUS=12 requests wait READY=0");
    service.extend_timeout(90s);
    CHECK(manager.heard() == "EXTEND_TIMEOUT_USEC=90000000");
    service.extend_timeout(-1s);
    CHECK(manager.heard() == "EXTEND_TIMEOUT_USEC=0");
    CHECK(service.reloading());
    CHECK(manager.heard().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    service.alive();
    CHECK(manager.heard() == "WATCHDOG=1");
    CHECK(service.exists());
    service.stopping();
    CHECK(manager.heard() == "STOPPING=1");
    CHECK(manager.heard().empty());
}

TEST_CASE("a watchdog counts when it is meant for this process") {
    const std::string here = std::to_string(::getpid());
    struct Row {
        const char* usec;
        std::string pid;
        std::optional<domain::Milliseconds> watchdog;
    };
    const Row rows[]{{"30000000", here, 30s},      {"30000000", "1", std::nullopt},
                     {"2500", here, 2ms},          {"0", here, std::nullopt},
                     {"many", here, std::nullopt}, {nullptr, here, std::nullopt}};
    const platform::ServiceManager service;
    for (const Row& row : rows) {
        CAPTURE(row.pid);
        if (row.usec != nullptr) ::setenv("WATCHDOG_USEC", row.usec, 1);
        ::setenv("WATCHDOG_PID", row.pid.c_str(), 1);
        CHECK(service.watchdog() == row.watchdog);
        ::unsetenv("WATCHDOG_USEC");
        ::unsetenv("WATCHDOG_PID");
    }
}

TEST_CASE("without a service manager nothing happens") {
    REQUIRE(std::getenv("NOTIFY_SOCKET") == nullptr);
    platform::ServiceManager service;
    CHECK_FALSE(service.exists());
    service.alive();
    CHECK_FALSE(service.reloading());
    service.ready();
    service.status("alone");
    service.extend_timeout(1s);
    service.stopping();

    REQUIRE(::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1) == 0);
    service.ready();
    ::unsetenv("NOTIFY_SOCKET");
}
