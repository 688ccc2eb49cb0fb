#pragma once

#include <cstdint>
#include <filesystem>

namespace store {

// A file that only takes up space, so that there is some to give when the disk is full.
class Reserve {
public:
    Reserve(std::filesystem::path path, std::uint64_t bytes);

    // False when there was nothing to give.
    bool release();
    // False when the disk has no room for it.
    bool restore();
    [[nodiscard]] bool held() const { return held_; }

private:
    std::filesystem::path path_;
    std::uint64_t bytes_;
    bool held_ = false;
};

}  // namespace store
