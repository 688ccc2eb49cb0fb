#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace chains::evm {

// An error of the contracts that clients get to see (evm-gateway 1.6, 4.5).
struct NamedError {
    std::uint32_t selector = 0;
    std::string_view signature;
};

[[nodiscard]] std::span<const NamedError> named_errors();

}  // namespace chains::evm
