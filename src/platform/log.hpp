#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "ports/logger.hpp"

namespace spdlog {
class logger;
}

namespace platform {

enum class LogFormat {
    compact,  // time level target: line
    pretty,   // the same for eyes: local time, level in colour on a terminal
    json,     // one object per line: timestamp, level, target, message
};

struct LogOptions {
    LogFormat format = LogFormat::compact;
    ports::LogLevel level = ports::LogLevel::info;  // lines below are dropped
    bool show_timestamp = true;  // not in text for the journal, which has its own
    bool show_target = true;
    bool show_thread_ids = false;

    bool operator==(const LogOptions&) const = default;
};

// Writes to standard error, one write per line. Never throws and never waits: a closed or full
// standard error, or one that nobody reads, loses the line and nothing else; lost lines are counted
// (the program must ignore SIGPIPE). Any thread.
class Log : public ports::Logger {
public:
    explicit Log(const LogOptions& options);
    ~Log() override;

    void write(ports::LogLevel level, std::string_view line) override;
    [[nodiscard]] bool wants(ports::LogLevel level) const override;

    // Lines below it are dropped from now on. Any thread.
    void set_level(ports::LogLevel level);
    [[nodiscard]] ports::LogLevel level() const;

private:
    std::unique_ptr<spdlog::logger> logger_;
    LogFormat format_;
    std::mutex mutex_;  // guards what follows, and the wait-free writing
    std::uint64_t lost_ = 0;
};

// What stands before a line on standard error that no Log writes: nothing where that is not the
// journal.
[[nodiscard]] std::string_view journal_priority(ports::LogLevel level);

// Characters that could forge a line or drive a terminal are written as \n, \r, \t, \xHH.
[[nodiscard]] std::string printable(std::string_view text);

// The inside of a JSON string; bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_escaped(std::string_view text);

}  // namespace platform
