#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "ports/clock.hpp"
#include "ports/logger.hpp"

namespace api {

// For the log: what is being caught, or that a request was dropped without an answer.
[[nodiscard]] std::string reason_of_current_exception();

// Log lines about trouble that would come once per request while it lasts (a full disk, a chain
// that is away): the first one is written, then at most six a minute with the number left out. Any
// thread.
class ThrottledLog {
public:
    // `event` names the trouble and outlives the report.
    ThrottledLog(std::string_view event, ports::Logger& logger, const ports::Clock& clock,
                 ports::LogLevel level = ports::LogLevel::error)
        : event_(event), logger_(logger), clock_(clock), level_(level) {}

    // `reason` goes without its URLs; an empty label is left out.
    void write(std::string_view call_id, std::string_view reason, std::string_view label = {});
    // Same, with fields of the event's own (`name=value`) in place of the call.
    void note(std::string_view fields, std::string_view reason);

private:
    const std::string_view event_;
    ports::Logger& logger_;
    const ports::Clock& clock_;
    const ports::LogLevel level_;
    std::atomic<std::int64_t> quiet_until_ns_{INT64_MIN};
    std::atomic<std::uint64_t> suppressed_{0};
};

}  // namespace api
