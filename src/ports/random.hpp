#pragma once

#include <cstdint>
#include <span>

namespace ports {

// Port. Any thread. The real one is cryptographically secure: ids and salts depend on it.
class Random {
public:
    virtual ~Random() = default;
    virtual void fill(std::span<std::uint8_t> out) = 0;

    [[nodiscard]] std::uint64_t next() {
        std::uint64_t value = 0;
        fill({reinterpret_cast<std::uint8_t*>(&value), sizeof value});
        return value;
    }
};

}  // namespace ports
