#include "commands/reload.hpp"

#include <csignal>
#include <exception>
#include <stdexcept>
#include <utility>

#include "api/access/secret_file.hpp"
#include "base/sanitize.hpp"
#include "commands/signals.hpp"

namespace commands {

namespace {

api::admin::Reloaded read_again(const Reload& reload, ports::Logger& logger) {
    api::admin::Reloaded reloaded{reload.what, {}, {}, reload.is_copy};
    try {
        reloaded.facts = reload.read();
        logger.write(ports::LogLevel::info,
                     "reloaded what=" + reload.what + " " + reloaded.facts +
                         (reload.is_copy ? " hint=\"a credential: what changed in its file comes "
                                           "with a restart\""
                                         : ""));
    } catch (const std::exception& error) {
        reloaded.problem = error.what();
        logger.write(ports::LogLevel::error,
                     "reload_failed what=" + reload.what + " alert=true error=" +
                         base::log_value(error.what()) + " action=\"the old ones stay\"");
    }
    return reloaded;
}

// By its name, or by the path that a start made of it.
bool is_credential(const config::Settings& settings, const std::string& file) {
    const std::string& directory = settings.api.access.credentials_directory;
    return api::access::is_credential(file) ||
           (!directory.empty() && file.starts_with(directory + "/"));
}

}  // namespace

std::vector<api::admin::Reloaded> Reloads::run() {
    const std::lock_guard lock(mutex_);
    if (all_.empty()) logger_.write(ports::LogLevel::info, "nothing_to_reload");
    std::vector<api::admin::Reloaded> reloaded;
    for (const Reload& each : all_) reloaded.push_back(read_again(each, logger_));
    return reloaded;
}

std::vector<Reload> reloads_of(const config::Settings& settings,
                               api::access::Authenticator& authenticator, net::HttpServer& server) {
    std::vector<Reload> reloads;
    for (api::access::KeyStore& ring : authenticator.reloadable()) {
        reloads.push_back({ring.name(),
                           [&ring] {
                               if (const auto problem = ring.reload()) {
                                   throw std::runtime_error(*problem);
                               }
                               return "keys=" + std::to_string(ring.size());
                           },
                           is_credential(settings, ring.file())});
    }
    for (Reload& each : tls_reloads(settings, server)) reloads.push_back(std::move(each));
    return reloads;
}

std::vector<Reload> tls_reloads(const config::Settings& settings, net::HttpServer& server) {
    std::vector<Reload> reloads;
    if (settings.http.tls_certificate_file.empty()) return reloads;
    reloads.push_back({"tls",
                       [&server] {
                           if (const auto problem = server.reload_tls()) {
                               throw std::runtime_error(*problem);
                           }
                           return std::string("certificate=new");
                       },
                       is_credential(settings, settings.http.tls_certificate_file) ||
                           is_credential(settings, settings.http.tls_key_file)});
    return reloads;
}

int wait_for_stop_signal(Reloads& reloads, platform::ServiceManager& service_manager) {
    int signal = wait_for_signal();
    for (; signal == SIGHUP; signal = wait_for_signal()) {
        if (!service_manager.reloading() && reloads.empty()) break;
        static_cast<void>(reloads.run());
        service_manager.ready();
    }
    return signal;
}

}  // namespace commands
