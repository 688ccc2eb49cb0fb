#pragma once

#include <algorithm>
#include <cstdint>

namespace chains::evm {

// How many blocks to ask for at once from nodes that refuse large ranges at limits of their own:
// halved by a refusal, doubled by success, with care near what was refused before.
class RangeSize {
public:
    explicit RangeSize(std::uint64_t blocks_max)
        : max_(std::max<std::uint64_t>(blocks_max, 1)), blocks_(max_), refused_(max_ + 1) {}

    [[nodiscard]] std::uint64_t blocks() const { return blocks_; }

    void refused(std::uint64_t asked) {
        blocks_ = std::max<std::uint64_t>(asked / 2, 1);
        refused_ = std::max<std::uint64_t>(asked, 2);
        successes_ = 0;
    }

    void answered(std::uint64_t asked) {
        if (asked < blocks_ || blocks_ == max_) return;
        if (++successes_ < patience && blocks_ * 2 >= refused_) return;
        blocks_ = std::min(max_, blocks_ * 2);
        if (blocks_ >= refused_) refused_ = max_ + 1;
        successes_ = 0;
    }

private:
    static constexpr std::uint32_t patience = 8;

    std::uint64_t max_;
    std::uint64_t blocks_;
    std::uint64_t refused_;  // the last size that was
    std::uint32_t successes_ = 0;
};

}  // namespace chains::evm
