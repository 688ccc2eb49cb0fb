#include "platform/secure_random.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace platform {
namespace {

void fetch(std::span<std::uint8_t> out) {
    while (!out.empty()) {
        const ssize_t got = ::getrandom(out.data(), out.size(), 0);
        if (got < 0) {
            if (errno == EINTR) continue;
            throw std::system_error{errno, std::generic_category(), "getrandom"};
        }
        out = out.subspan(static_cast<std::size_t>(got));
    }
}

// Full when `used` is 0, so an exception of fetch() leaves nothing half filled to hand out.
struct Buffer {
    std::array<std::uint8_t, 1024> bytes{};
    std::size_t used = sizeof bytes;
};

thread_local Buffer buffer;

}  // namespace

void SecureRandom::fill(std::span<std::uint8_t> out) {
    if (out.size() > buffer.bytes.size()) {
        fetch(out);
        return;
    }
    while (!out.empty()) {
        if (buffer.used == buffer.bytes.size()) {
            fetch(buffer.bytes);
            buffer.used = 0;
        }
        const std::span fresh = std::span{buffer.bytes}.subspan(buffer.used);
        const std::span taken = fresh.first(std::min(fresh.size(), out.size()));
        std::ranges::copy(taken, out.begin());
        std::ranges::fill(taken, std::uint8_t{0});
        buffer.used += taken.size();
        out = out.subspan(taken.size());
    }
}

}  // namespace platform
