#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace support {

// A directory of its own, gone with the object. In memory where the system has such a place and
// nothing in it is to be executed: memory may be mounted without.
class TempDirectory {
public:
    enum class For { files, programs };

    explicit TempDirectory(For purpose = For::files) {
        const std::filesystem::path memory = "/dev/shm";
        const bool in_memory = purpose == For::files && std::filesystem::is_directory(memory);
        make_in(in_memory ? memory : std::filesystem::temp_directory_path());
    }
    explicit TempDirectory(const std::filesystem::path& parent) { make_in(parent); }
    ~TempDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::string file(const std::string& name) const {
        return (path_ / name).string();
    }

private:
    void make_in(const std::filesystem::path& parent) {
        std::string name = (parent / "posthouse-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp: " + name);
        path_ = name;
    }

    std::filesystem::path path_;
};

}  // namespace support
