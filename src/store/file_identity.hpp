#pragma once

#include <sys/types.h>

#include <filesystem>

namespace store {

// Which file stood at a path when it was opened. A file that was removed or replaced since is still
// written to by whoever has it open, and nobody will ever read that again.
class FileIdentity {
public:
    explicit FileIdentity(std::filesystem::path path);

    [[nodiscard]] bool is_unchanged() const;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

}  // namespace store
