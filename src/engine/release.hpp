#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace engine {

// The operator lets requests go on that are held.
struct Release {
    struct Outcome {
        std::uint64_t released = 0;
        std::vector<std::int64_t> not_held;  // of those that were named
    };

    bool all = false;
    std::vector<std::int64_t> sequences;  // when not all
    // Told once, after the commit; nothing: it was not stored. Must be quick.
    std::function<void(std::optional<Outcome>)> reply;
};

// How an operator reaches what is held. Any thread.
class HoldControl {
public:
    virtual ~HoldControl() = default;
    // Does not wait.
    virtual void release(Release order) = 0;
};

}  // namespace engine
