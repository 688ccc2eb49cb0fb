#include "platform/service_manager.hpp"

#include <systemd/sd-daemon.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace platform {
namespace {

// False: there is nobody to tell. A service works the same whether its manager listens or not.
bool notify(const std::string& state) {
    return ::sd_notify(0, state.c_str()) != 0;
}

}  // namespace

bool ServiceManager::exists() const {
    return std::getenv("NOTIFY_SOCKET") != nullptr;  // NOLINT(concurrency-mt-unsafe): never set
}

std::vector<base::Descriptor> ServiceManager::take_sockets() {
    std::vector<base::Descriptor> sockets;
    const int count = ::sd_listen_fds(1);
    sockets.reserve(static_cast<std::size_t>(std::max(count, 0)));
    for (int i = 0; i < count; ++i) sockets.emplace_back(SD_LISTEN_FDS_START + i);
    return sockets;
}

void ServiceManager::ready() {
    static_cast<void>(notify("READY=1"));
}

bool ServiceManager::reloading() {
    // systemd compares with its own CLOCK_MONOTONIC.
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    const auto usec = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec});
    return notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec.count()));
}

void ServiceManager::stopping() {
    static_cast<void>(notify("STOPPING=1"));
}

void ServiceManager::extend_timeout(domain::Milliseconds time) {
    const std::chrono::microseconds usec = std::max(time, domain::Milliseconds{0});
    static_cast<void>(notify("EXTEND_TIMEOUT_USEC=" + std::to_string(usec.count())));
}

std::optional<domain::Milliseconds> ServiceManager::watchdog() const {
    std::uint64_t usec = 0;
    if (::sd_watchdog_enabled(0, &usec) <= 0) return std::nullopt;
    return std::chrono::floor<domain::Milliseconds>(std::chrono::microseconds{usec});
}

void ServiceManager::alive() {
    static_cast<void>(notify("WATCHDOG=1"));
}

void ServiceManager::status(std::string line) {
    // A line break would begin another assignment.
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
    static_cast<void>(notify("STATUS=" + line));
}

}  // namespace platform
