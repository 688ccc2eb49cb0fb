#pragma once

#include <string>

#include "net/file_descriptor.hpp"

namespace net {

// A listening TCP socket, bound in the constructor. Throws std::runtime_error naming address and
// reason.
class Listener {
public:
    // Port 0 takes any free port. `setting` is what an operator changes to get another address.
    Listener(const std::string& host, int port, const std::string& setting);

    [[nodiscard]] int descriptor() const { return socket_.get(); }
    [[nodiscard]] int port() const { return port_; }
    void close() { socket_.reset(); }
    [[nodiscard]] bool is_open() const { return socket_.is_open(); }

private:
    FileDescriptor socket_;
    int port_ = 0;
};

}  // namespace net
