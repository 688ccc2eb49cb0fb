#pragma once

#include <filesystem>

namespace commands {

// Root becomes the user who owns the directory, for good: no file is left behind that the service
// could not open. Throws std::runtime_error when there is no such directory.
void become_owner_of(const std::filesystem::path& directory);

}  // namespace commands
