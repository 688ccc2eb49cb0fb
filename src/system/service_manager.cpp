#include "system/service_manager.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>
#include <chrono>

namespace platform {
namespace {

void notify(const std::string& state) {
    // The answer is not acted upon: a service works the same whether its manager listens or not.
    static_cast<void>(::sd_notify(0, state.c_str()));
}

}  // namespace

void ServiceManager::ready() {
    notify("READY=1");
}

void ServiceManager::stopping() {
    notify("STOPPING=1");
}

void ServiceManager::extend_timeout(domain::Milliseconds time) {
    const std::chrono::microseconds usec = std::max(time, domain::Milliseconds{0});
    notify("EXTEND_TIMEOUT_USEC=" + std::to_string(usec.count()));
}

void ServiceManager::status(std::string line) {
    // A line break would begin another assignment.
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
    notify("STATUS=" + line);
}

}  // namespace platform
