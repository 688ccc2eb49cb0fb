#pragma once

#include <chrono>

namespace bench {

// How much of all cores others use, in percent. Sleeps meanwhile, so nothing of it is ours.
[[nodiscard]] double busy_percent(std::chrono::milliseconds over);

}  // namespace bench
