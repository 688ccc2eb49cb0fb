#pragma once

#include <cstdint>
#include <filesystem>

namespace bench {

// A fresh directory that goes away with its content, unless an exception ends its use.
class Scratch {
public:
    explicit Scratch(const std::filesystem::path& parent);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    int exceptions_before_;
    std::filesystem::path path_;
};

// All files below a directory.
[[nodiscard]] std::uint64_t bytes_in(const std::filesystem::path& directory);

// Memory would make every flush free.
[[nodiscard]] bool is_in_memory(const std::filesystem::path& directory);

}  // namespace bench
