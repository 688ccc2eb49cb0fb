#include "commands/service_status.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace commands {

namespace {

// Where nobody watches, the line is all there is to tell.
constexpr domain::Milliseconds interval_max{10'000};
constexpr domain::Milliseconds interval_min{1};

// Two beats may be late before the manager thinks the process dead.
domain::Milliseconds interval_of(const platform::ServiceManager& manager) {
    const auto watchdog = manager.watchdog();
    return watchdog ? std::clamp(*watchdog / 3, interval_min, interval_max) : interval_max;
}

}  // namespace

ServiceStatus::ServiceStatus(platform::ServiceManager& manager, std::function<std::string()> line)
    : manager_(manager),
      line_(std::move(line)),
      is_watched_(manager.watchdog().has_value()),
      interval_(interval_of(manager)) {}

void ServiceStatus::beat() {
    if (is_watched_) manager_.alive();
    std::string line = line_();
    if (line == told_) return;
    manager_.status(line);
    told_ = std::move(line);
}

}  // namespace commands
