#include "commands/reload.hpp"

#include <csignal>
#include <exception>
#include <stdexcept>

#include "base/sanitize.hpp"
#include "commands/signals.hpp"

namespace commands {

namespace {

void reload(const Reload& reload, ports::Logger& logger) {
    try {
        logger.write(ports::LogLevel::info, "reloaded what=" + reload.what + " " + reload.read());
    } catch (const std::exception& error) {
        logger.write(ports::LogLevel::error,
                     "reload_failed what=" + reload.what + " alert=true error=" +
                         base::log_value(error.what()) + " action=\"the old ones stay\"");
    }
}

}  // namespace

std::vector<Reload> reloads_of(api::access::Authenticator& authenticator, net::HttpServer& server,
                               bool with_tls) {
    std::vector<Reload> reloads;
    for (api::access::KeyStore& ring : authenticator.reloadable()) {
        reloads.push_back({ring.name(), [&ring] {
                               if (const auto problem = ring.reload()) {
                                   throw std::runtime_error(*problem);
                               }
                               return "keys=" + std::to_string(ring.size());
                           }});
    }
    if (with_tls) {
        reloads.push_back({"tls", [&server] {
                               if (const auto problem = server.reload_tls()) {
                                   throw std::runtime_error(*problem);
                               }
                               return std::string("certificate=new");
                           }});
    }
    return reloads;
}

void wait_for_stop_signal(const std::vector<Reload>& reloads, ports::Logger& logger,
                          platform::ServiceManager& service_manager) {
    while (wait_for_signal() == SIGHUP) {
        if (!service_manager.reloading() && reloads.empty()) return;
        if (reloads.empty()) logger.write(ports::LogLevel::info, "nothing_to_reload");
        for (const Reload& each : reloads) reload(each, logger);
        service_manager.ready();
    }
}

}  // namespace commands
