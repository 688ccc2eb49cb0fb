#pragma once

#include <string_view>

namespace engine {

enum class Level { debug, info, warning, error };

// Port. One line per event: `event key=value …`, the request id first. Any thread.
class Journal {
public:
    virtual ~Journal() = default;
    virtual void write(Level level, std::string_view line) = 0;
    // Whether a line of this level is kept: spares the making of lines nobody reads.
    [[nodiscard]] virtual bool wants(Level) const { return true; }
};

}  // namespace engine
