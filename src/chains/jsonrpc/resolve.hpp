#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "chains/jsonrpc/signal.hpp"

namespace chains::jsonrpc {

struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = 0;
};

enum class Unresolved { unknown, timed_out, stopped };

// The addresses of a host, at least one, in the order of the system. The system's look-up can not
// be ended: one that is given up goes on on a thread of its own and comes to nothing.
[[nodiscard]] std::variant<std::vector<SocketAddress>, Unresolved> resolve(const std::string& host,
                                                                           std::uint16_t port,
                                                                           Deadline deadline,
                                                                           const Signal& stop);

}  // namespace chains::jsonrpc
