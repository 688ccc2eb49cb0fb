#pragma once

#include <string_view>

namespace ports {

enum class LogLevel { debug, info, warning, error };

// Port. One line per event: `event key=value …`, the request id first. Any thread.
class Logger {
public:
    virtual ~Logger() = default;
    virtual void write(LogLevel level, std::string_view line) = 0;
    // Whether a line of this level is kept: spares the making of lines nobody reads.
    [[nodiscard]] virtual bool wants(LogLevel) const { return true; }
};

}  // namespace ports
