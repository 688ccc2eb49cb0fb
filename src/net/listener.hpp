#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace net {

// Listening TCP sockets on one port.
struct Listeners {
    std::vector<base::Descriptor> sockets;
    int port = 0;
};

// Listens on every address of `host`, but those this machine does not have. Port 0 takes a port
// that is free on all of them. `setting` is what an operator changes to get another address.
// Throws std::runtime_error naming address and reason.
[[nodiscard]] Listeners listen_on(const std::string& host, int port, const std::string& setting);

class ForeignSocket : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Takes sockets over that listen already, as systemd hands them out. Throws ForeignSocket when one
// is no listening TCP socket, or not on an address of `host` and `port`, where 0 is any, and
// std::runtime_error when the host is not found.
[[nodiscard]] Listeners take_over(std::vector<base::Descriptor> sockets, const std::string& host,
                                  int port, const std::string& setting);

}  // namespace net
