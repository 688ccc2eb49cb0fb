#include "net/resolve.hpp"

#include <netdb.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <thread>

namespace net {
namespace {

namespace asio = boost::asio;

struct LookUp {
    asio::steady_timer finished;  // ends early once they are found
    std::optional<Addresses> found{};
};

Addresses look_up(const std::string& host, std::uint16_t port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* first = nullptr;
    Addresses found;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first) != 0) {
        return found;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(first, &::freeaddrinfo);
    for (const addrinfo* one = first; one != nullptr; one = one->ai_next) {
        asio::ip::tcp::endpoint address;
        if (one->ai_addrlen > address.capacity()) continue;
        std::memcpy(address.data(), one->ai_addr, one->ai_addrlen);
        address.resize(one->ai_addrlen);
        found.push_back(address);
    }
    return found;
}

// The thread knows nothing that could go away before it.
void start(const std::shared_ptr<LookUp>& task, const std::shared_ptr<IoThread::Entrance>& entrance,
           const std::string& host, std::uint16_t port) {
    std::thread([entrance, host, port, waiting = std::weak_ptr(task)]() noexcept {
        try {
            Addresses found = look_up(host, port, 0);
            entrance->post([waiting, found = std::move(found)] {
                const auto waiter = waiting.lock();
                if (!waiter) return;
                waiter->found = found;
                waiter->finished.cancel();
            });
        } catch (const std::exception&) {  // of memory: the waiter's time ends
        }
    }).detach();
}

}  // namespace

asio::awaitable<std::variant<Addresses, Unresolved>> resolve(
    IoThread& thread, const std::string& host, std::uint16_t port,
    std::chrono::steady_clock::time_point deadline) {
    if (auto found = look_up(host, port, AI_NUMERICHOST); !found.empty()) co_return found;
    const auto task =
        std::make_shared<LookUp>(LookUp{asio::steady_timer(thread.executor(), deadline)});
    try {
        start(task, thread.entrance(), host, port);
    } catch (const std::exception&) {  // no thread left
        co_return Unresolved::unknown;
    }
    const auto [ended] = co_await task->finished.async_wait(asio::as_tuple(asio::use_awaitable));
    if (task->found) {
        if (task->found->empty()) co_return Unresolved::unknown;
        co_return std::move(*task->found);
    }
    co_return ended ? Unresolved::stopped : Unresolved::timed_out;
}

}  // namespace net
