#pragma once

#include <cstdint>

namespace chains::jsonrpc {

// An amount of the chain's coin or a price of gas, in wei. 128 bits hold 3.4 * 10^38; what a node
// says beyond that is refused as malformed.
__extension__ using Wei = unsigned __int128;

inline constexpr Wei wei_max = ~Wei{0};

}  // namespace chains::jsonrpc
