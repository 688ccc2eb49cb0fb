#pragma once

#include <cstdint>
#include <filesystem>

namespace commands::drill {

// A fresh directory (0700) that goes away with its content.
class Scratch {
public:
    // On the file system where `directory` lies or would be made: in it, or in the nearest one
    // above that exists. Throws store::OpenError, and std::runtime_error when less than
    // `bytes_min` are free there.
    Scratch(const std::filesystem::path& directory, std::uint64_t bytes_min);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace commands::drill
