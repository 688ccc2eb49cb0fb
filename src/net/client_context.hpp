#pragma once

#include <memory>

#include "net/proxy.hpp"

namespace net {

class IoThread;
class TlsTrust;

// What the clients of a process share: the thread on which all outgoing connections live, whom TLS
// trusts, and the proxies. Lives longer than its clients. Any thread.
class ClientContext {
public:
    explicit ClientContext(Proxies proxies = {});  // starts the thread; throws std::system_error
    ClientContext(const ClientContext&) = delete;
    ClientContext& operator=(const ClientContext&) = delete;
    ~ClientContext();  // not on its own thread

    // For the files of net.
    [[nodiscard]] const Proxies& proxies() const { return proxies_; }
    [[nodiscard]] IoThread& thread() { return *thread_; }
    // Made when it is asked for the first time. Throws std::runtime_error.
    [[nodiscard]] TlsTrust& trust();

private:
    struct Lazy;

    const Proxies proxies_;
    const std::unique_ptr<Lazy> lazy_;
    const std::unique_ptr<IoThread> thread_;
};

}  // namespace net
