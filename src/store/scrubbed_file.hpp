#pragma once

#include <filesystem>

namespace store {

// Overwrites a file, if it is there, and removes it. Throws StorageError.
void scrub(const std::filesystem::path& file);

// The place of a file that is only needed for a while and holds what is wiped elsewhere, such as a
// snapshot on its way. Nothing is there when the object is made, also of a process that was killed;
// what is there at the end, and its FILE.unfinished, is overwritten before it is removed.
class ScrubbedFile {
public:
    // Throws StorageError when what was left there can not be removed.
    explicit ScrubbedFile(std::filesystem::path file);
    ~ScrubbedFile();
    ScrubbedFile(const ScrubbedFile&) = delete;
    ScrubbedFile& operator=(const ScrubbedFile&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return file_; }

private:
    void scrub_both() const;

    const std::filesystem::path file_;
};

}  // namespace store
