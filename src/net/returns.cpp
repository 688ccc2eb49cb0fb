#include "net/returns.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "net/connection.hpp"

namespace net {

Returns::Returns(const ReadingLimits& limits, std::size_t buffered_bytes_max,
                 std::chrono::seconds idle_timeout)
    : limits_(limits),
      idle_timeout_(idle_timeout),
      event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      budget_(buffered_bytes_max) {
    if (!event_.is_open()) throw std::system_error(errno, std::system_category(), "eventfd");
}

void Returns::post(std::shared_ptr<Connection> connection) {
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
        connections_.push_back(std::move(connection));
    }
    wake();
}

void Returns::wake() {
    if (signalled_.exchange(true)) return;
    const std::uint64_t one = 1;
    // Full or interrupted can only mean that the loop is about to look anyway.
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

void Returns::take(std::vector<std::shared_ptr<Connection>>& connections) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(event_.get(), &count, sizeof count);
    // Before the swap, so that a post after it signals again.
    signalled_.store(false);
    const std::lock_guard lock(mutex_);
    connections.swap(connections_);
}

void Returns::close() {
    std::vector<std::shared_ptr<Connection>> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(connections_);
}

}  // namespace net
