#pragma once

#include <string_view>

#include "domain/failure.hpp"

#include <cstdint>

namespace chains::loopback {

// `text` and the selector of one of the errors a gateway contract knows (relayer-api 9.3), chosen
// by `number`: "TEXT: Execution reverted: 0x…".
[[nodiscard]] domain::Failure revert(std::string_view text, std::uint64_t number);

}  // namespace chains::loopback
