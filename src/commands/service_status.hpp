#pragma once

#include <functional>
#include <string>

#include "domain/time.hpp"
#include "platform/service_manager.hpp"
#include "ports/heartbeat.hpp"

namespace commands {

// Tells the service manager that the processor's loop goes round, and in one line how things are.
class ServiceStatus final : public ports::Heartbeat {
public:
    // `line` is asked at each beat, on the processor's thread.
    ServiceStatus(platform::ServiceManager& manager, std::function<std::string()> line);

    [[nodiscard]] domain::Nanoseconds interval() const override { return interval_; }
    void beat() override;

private:
    platform::ServiceManager& manager_;
    const std::function<std::string()> line_;
    const bool is_watched_;
    const domain::Nanoseconds interval_;
    std::string told_;
};

}  // namespace commands
