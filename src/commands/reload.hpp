#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/access/authenticator.hpp"
#include "net/http_server.hpp"
#include "platform/service_manager.hpp"
#include "ports/logger.hpp"

namespace commands {

// Something SIGHUP reads again. `read` gives fields for the log; it throws and leaves everything as
// it was when what it finds is no good.
struct Reload {
    std::string what;
    std::function<std::string()> read;
};

[[nodiscard]] std::vector<Reload> reloads_of(api::access::Authenticator& authenticator,
                                             net::HttpServer& server, bool with_tls);

// SIGHUP ends the program, as that of a terminal that is gone should, unless there is something to
// read again or a service manager: its reload must never be a stop.
void wait_for_stop_signal(const std::vector<Reload>& reloads, ports::Logger& logger,
                          platform::ServiceManager& service_manager);

}  // namespace commands
