#pragma once

#include <filesystem>

#include "store/options.hpp"

namespace store {

// Creates the data directory (0700) when it is missing. Throws OpenError.
void make_directory(const Options& options);

// Holds a data directory for one process, for the life of the object; the kernel gives it back when
// the process dies. The lock file beside the database names the holder's pid.
class OwnerLock {
public:
    // Throws OpenError naming the holder when another process has it. Symbolic links are resolved.
    explicit OwnerLock(const std::filesystem::path& directory);
    ~OwnerLock();
    OwnerLock(const OwnerLock&) = delete;
    OwnerLock& operator=(const OwnerLock&) = delete;

private:
    int descriptor_ = -1;
};

// Whether locks and shared memory can not be trusted on this statfs(2) type (NFS, SMB, FUSE …).
[[nodiscard]] bool is_network_filesystem(long filesystem_type);

}  // namespace store
