#pragma once

#include <cstdint>

#include "domain/bytes.hpp"

namespace domain {

// The host chain a ciphertext handle lives on: big-endian in its bytes 22 to 29 (evm-gateway 9.3).
[[nodiscard]] constexpr std::uint64_t host_chain_of(const Bytes32& handle) {
    std::uint64_t chain = 0;
    for (std::size_t at = 22; at < 30; ++at) chain = chain << 8U | handle[at];
    return chain;
}

}  // namespace domain
