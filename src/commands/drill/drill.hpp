#pragma once

#include <cstdint>
#include <optional>

#include "commands/drill/report.hpp"
#include "config/settings.hpp"
#include "ports/progress.hpp"

namespace commands::drill {

struct DrillOptions {
    bool quick = false;                   // about a minute
    std::optional<std::uint64_t> rounds;  // nothing: what `quick` says
    std::optional<std::uint64_t> seed;    // nothing: another one each time
};

// Tries on the file system of the data directory whether this machine keeps what posthouse
// promises: this program serves in a scratch directory, on the embedded chain, and is killed,
// stopped and starved of disk space under load. Neither processes nor files are left, however it
// ends. Throws what `progress` throws, and std::runtime_error when it can not be done.
[[nodiscard]] Report drill(const config::Settings& settings, const DrillOptions& options,
                           const ports::Progress& progress);

}  // namespace commands::drill
