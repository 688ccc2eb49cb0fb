#include "chains/jsonrpc/resolve.hpp"

#include <netdb.h>
#include <poll.h>

#include <cstring>
#include <exception>
#include <memory>
#include <thread>

namespace chains::jsonrpc {
namespace {

struct LookUp {
    Signal finished;
    std::vector<SocketAddress> found;  // complete once finished
};

std::vector<SocketAddress> look_up(const std::string& host, std::uint16_t port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* first = nullptr;
    std::vector<SocketAddress> found;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first) != 0) {
        return found;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(first, &::freeaddrinfo);
    for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
        SocketAddress address;
        address.size = one->ai_addrlen;
        std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
        found.push_back(address);
    }
    return found;
}

std::shared_ptr<LookUp> start_look_up(const std::string& host, std::uint16_t port) {
    auto task = std::make_shared<LookUp>();
    std::thread([task, host, port] {
        try {
            task->found = look_up(host, port, 0);
        } catch (const std::exception&) {
            task->found.clear();
        }
        task->finished.set();
    }).detach();
    return task;
}

}  // namespace

std::variant<std::vector<SocketAddress>, Unresolved> resolve(const std::string& host,
                                                             std::uint16_t port, Deadline deadline,
                                                             const Signal& stop) {
    if (auto found = look_up(host, port, AI_NUMERICHOST); !found.empty()) return found;
    try {
        const auto task = start_look_up(host, port);
        switch (stop.wait(task->finished.descriptor(), POLLIN, deadline)) {
            case Wait::timed_out:
                return Unresolved::timed_out;
            case Wait::signalled:
                return Unresolved::stopped;
            case Wait::ready:
                break;
        }
        if (!task->finished.is_set() || task->found.empty()) return Unresolved::unknown;
        return task->found;
    } catch (const std::exception&) {  // no descriptor or thread left
        return Unresolved::unknown;
    }
}

}  // namespace chains::jsonrpc
