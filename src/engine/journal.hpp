#pragma once

#include <string_view>

namespace engine {

enum class Level { debug, info, warning, error };

// Port. One line per event: `event key=value …`, the request id first. Any thread.
class Journal {
public:
    virtual ~Journal() = default;
    virtual void write(Level level, std::string_view line) = 0;
};

}  // namespace engine
