#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "domain/time.hpp"

namespace platform {

// What systemd is told (sd_notify(3), Type=notify). Without NOTIFY_SOCKET nothing happens; a
// manager that does not listen is no error. Any thread.
class ServiceManager {
public:
    [[nodiscard]] bool exists() const;
    // Sockets it holds open for this process (sd_listen_fds(3)), in its order; nothing the second
    // time. Before the first child.
    [[nodiscard]] std::vector<base::Descriptor> take_sockets();
    void ready();
    // Settings are read again; `ready` says when that is over. False: there is no manager.
    [[nodiscard]] bool reloading();
    void stopping();
    // Starting or stopping takes so much longer, counted from now.
    void extend_timeout(domain::Milliseconds time);
    // The longest time between two calls of alive(); nothing: nobody looks after it.
    [[nodiscard]] std::optional<domain::Milliseconds> watchdog() const;
    void alive();
    // One line, shown by `systemctl status`.
    void status(std::string line);
};

}  // namespace platform
