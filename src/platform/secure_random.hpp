#pragma once

#include "ports/random.hpp"

namespace platform {

// The kernel's random bytes, fetched in blocks and buffered per thread. Bytes handed out are wiped
// from the buffer. Throws std::system_error when the kernel has none. Any thread; not across
// fork().
class SecureRandom : public ports::Random {
public:
    void fill(std::span<std::uint8_t> out) override;
};

}  // namespace platform
