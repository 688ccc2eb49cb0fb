#include "base/stop_token.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <system_error>

namespace base {
namespace {

int milliseconds_left(Deadline deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(
        std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

}  // namespace

StopToken::StopToken() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void StopToken::request_stop() {
    requested_ = true;
    const std::uint64_t one = 1;
    // Fails only when it is readable already.
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

Wait StopToken::wait(int descriptor, short events, Deadline deadline) const {
    std::array<pollfd, 2> polled{{{.fd = event_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = descriptor, .events = events, .revents = 0}}};
    for (;;) {
        const int left = milliseconds_left(deadline);
        const int ready = ::poll(polled.data(), polled.size(), left);
        if (ready < 0 && errno != EINTR && errno != EAGAIN) return Wait::timed_out;
        if (stop_requested()) return Wait::stopped;
        if (ready > 0) return Wait::ready;
        if (left == 0) return Wait::timed_out;
    }
}

}  // namespace base
