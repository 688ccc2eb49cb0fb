#pragma once

#include <string>

namespace base {

__extension__ using Wide = unsigned __int128;

// `amount` in units of 10^decimals, exactly and without trailing zeros: 1500 with 3 decimals is
// `1.5`.
[[nodiscard]] std::string fixed_point(Wide amount, unsigned decimals);

}  // namespace base
