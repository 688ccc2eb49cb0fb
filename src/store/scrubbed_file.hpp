#pragma once

#include <filesystem>
#include <functional>

namespace store {

// Overwrites a file, if it is there, and removes it. Throws StorageError. `look` is called now and
// then while a large one is overwritten, which stays if it throws.
void scrub(const std::filesystem::path& file, const std::function<void()>& look = {});

// The place of a file that is only needed for a while and holds what is wiped elsewhere, such as a
// snapshot on its way. Nothing is there when the object is made, also of a process that was killed;
// what is there at the end, and its FILE.unfinished, is overwritten before it is removed. What can
// not be removed at the end stays for the next one at this place.
class ScrubbedFile {
public:
    // Throws StorageError when what was left there can not be removed. `look`: as scrub() has it.
    explicit ScrubbedFile(std::filesystem::path file, std::function<void()> look = {});
    ~ScrubbedFile();
    ScrubbedFile(const ScrubbedFile&) = delete;
    ScrubbedFile& operator=(const ScrubbedFile&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return file_; }

private:
    void scrub_both() const;

    const std::filesystem::path file_;
    const std::function<void()> look_;
};

}  // namespace store
