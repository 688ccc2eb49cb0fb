#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "store/options.hpp"

namespace store {

// Writes the database as it stands at one moment into `file`, which is not there yet: all rows and
// the position, nothing of what was deleted. Any thread, beside the writer, whose write-ahead log
// can not be cut meanwhile. A Follower or a Store opens the file under the name of a database. It
// appears (0600) when all of it is on the disk; until then it is FILE.unfinished, which is
// overwritten and goes away whatever happens. `look` is called now and then, and what it throws
// ends the work. Returns how many bytes the file has. Throws OpenError or StorageError.
std::uint64_t take_snapshot(const Options& options, const std::filesystem::path& file,
                            const std::function<void()>& look);

}  // namespace store
