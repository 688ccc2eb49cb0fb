#pragma once

#include <filesystem>

namespace store {

// Whether a SQLite connection, of any process, has this database open or is about to read it:
// connections in WAL mode hold a lock as long as they live, others while they read or write. False
// when the file can not be asked.
[[nodiscard]] bool is_open_elsewhere(const std::filesystem::path& database);

// Whether somebody holds the file with flock(2); false when it is not there.
[[nodiscard]] bool is_held_elsewhere(const std::filesystem::path& lock_file);

}  // namespace store
