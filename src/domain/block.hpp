#pragma once

#include <compare>
#include <cstdint>

#include "domain/bytes.hpp"

namespace domain {

// A block of a chain. Another hash at the same number is a block of another fork.
struct Block {
    std::uint64_t number = 0;
    Bytes32 hash{};

    auto operator<=>(const Block&) const = default;
};

}  // namespace domain
