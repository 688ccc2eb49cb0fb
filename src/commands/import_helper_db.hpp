#pragma once

#include <filesystem>
#include <ostream>

#include "config/settings.hpp"
#include "ports/progress.hpp"

namespace commands {

// Takes the shares of a reference helper over into the data directory of the settings, which this
// process must own meanwhile (share-helper 2 and 3): what waits keeps its time and its attempts,
// what has ended is kept so that it is recognised when it comes again. A copy of the file stays in
// the data directory; it holds witness data. Shares that are here already are left as they are, so
// that it can be done again, also after it was cut off. One line in `out` for each share that was
// not taken over, then what was done; no witness data. Returns the exit status: 0, or
// config::exit_not_all when shares were left behind. Throws OpenError or StorageError, and what
// `progress` throws: what was taken over until then stays.
[[nodiscard]] int import_helper_db(const config::Settings& settings,
                                   const std::filesystem::path& helper_db,
                                   const ports::Progress& progress, std::ostream& out);

}  // namespace commands
