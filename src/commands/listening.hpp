#pragma once

#include <exception>
#include <string>

#include "base/sanitize.hpp"
#include "net/http_server.hpp"
#include "ports/logger.hpp"

// What the log says of the listeners that a single machine, an owner and a follower have alike.
namespace commands {

inline void log_listening(ports::Logger& logger, const net::HttpOptions& options, int port) {
    logger.write(ports::LogLevel::info,
                 std::string("listening ") +
                     (options.tls_certificate_file.empty() ? "http=" : "https=") + options.host +
                     ":" + std::to_string(port));
}

// Requests are more important than what steers the process: it goes on without.
inline void log_no_admin_socket(ports::Logger& logger, const std::exception& error) {
    logger.write(ports::LogLevel::warning,
                 std::string("admin_socket_failed action=\"commands do not reach this process\" "
                             "error=") +
                     base::log_value(error.what()));
}

}  // namespace commands
