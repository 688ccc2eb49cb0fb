#pragma once

#include <cstdint>

#include "commands/drill/asking.hpp"
#include "commands/drill/judge.hpp"
#include "commands/drill/load.hpp"
#include "commands/drill/report.hpp"
#include "commands/drill/server.hpp"

namespace commands::drill {

struct FullDisk {
    Trial trial;
    Counts counts;
};

// Serves from a small disk in memory, fills it, looks that nothing but 202 and 503 is said, makes
// room, and waits until all that was promised has ended. `place` is furnished and has a disk.
[[nodiscard]] FullDisk fill_disk(const Place& place, std::uint64_t seed, WishNumbers& numbers,
                                 const Wait& wait);

}  // namespace commands::drill
