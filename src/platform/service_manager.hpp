#pragma once

#include <string>

#include "domain/time.hpp"

namespace platform {

// What systemd is told (sd_notify(3), Type=notify). Without NOTIFY_SOCKET nothing happens; a
// manager that does not listen is no error. Any thread.
class ServiceManager {
public:
    void ready();
    // Settings are read again; `ready` says when that is over. False: there is no manager.
    [[nodiscard]] bool reloading();
    void stopping();
    // Starting or stopping takes so much longer, counted from now.
    void extend_timeout(domain::Milliseconds time);
    // One line, shown by `systemctl status`.
    void status(std::string line);
};

}  // namespace platform
