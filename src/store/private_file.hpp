#pragma once

#include <filesystem>

namespace store {

// Whose a file is that root makes.
enum class FileOwner { root, of_directory };

// Opens a file for reading and writing, or makes it for one user alone (0600): what root makes for
// the owner of its directory can be opened by a service under that user. `flags` are added to those
// of open(2). The descriptor, or -1 and errno.
[[nodiscard]] int open_private_file(const std::filesystem::path& path, int flags = 0,
                                    FileOwner owner = FileOwner::of_directory);

}  // namespace store
