#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "api/access/authenticator.hpp"
#include "api/admin/reload_route.hpp"
#include "config/settings.hpp"
#include "net/http_server.hpp"
#include "platform/service_manager.hpp"
#include "ports/logger.hpp"

namespace commands {

// Something that is read again while the service runs. `read` gives fields for the log; it throws
// and leaves everything as it was when what it finds is no good.
struct Reload {
    std::string what;
    std::function<std::string()> read;
    bool is_copy = false;  // see api::admin::Reloaded
};

// All of it. Any thread, one at a time.
class Reloads {
public:
    // Both outlive it.
    Reloads(std::vector<Reload> all, ports::Logger& logger)
        : all_(std::move(all)), logger_(logger) {}

    [[nodiscard]] bool empty() const { return all_.empty(); }
    std::vector<api::admin::Reloaded> run();

private:
    const std::vector<Reload> all_;
    ports::Logger& logger_;
    std::mutex mutex_;  // one after the other
};

// Files of keys and of TLS. All of it must outlive what is returned.
[[nodiscard]] std::vector<Reload> reloads_of(const config::Settings& settings,
                                             api::access::Authenticator& authenticator,
                                             net::HttpServer& server);

// Those of TLS alone: of a node that follows, which knows no keys of clients.
[[nodiscard]] std::vector<Reload> tls_reloads(const config::Settings& settings,
                                              net::HttpServer& server);

// SIGHUP ends the program, as that of a terminal that is gone should, unless there is something to
// read again or a service manager: its reload must never be a stop. Returns which signal ended it.
[[nodiscard]] int wait_for_stop_signal(Reloads& reloads, platform::ServiceManager& service_manager);

}  // namespace commands
