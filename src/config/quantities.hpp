#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/time.hpp"

namespace config {

// `30s`, `5m`, `250ms`, `7d`, `1h 30m`: whole numbers with a unit (ms, s, m, h, d, w, and their
// words in full), largest first or in any order. Nothing when it is not one or overflows.
[[nodiscard]] std::optional<domain::Milliseconds> parse_duration(std::string_view text);

// In the largest unit that leaves no rest.
[[nodiscard]] std::string format_duration(domain::Milliseconds time);

// `2100-01-01T00:00:00Z`, with optional .fraction and with Z or +HH:MM; or whole Unix seconds.
[[nodiscard]] std::optional<domain::Timestamp> parse_time(std::string_view text);

[[nodiscard]] std::string format_time(domain::Timestamp time);

}  // namespace config
