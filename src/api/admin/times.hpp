#pragma once

#include <string>

#include "domain/time.hpp"

namespace api::admin {

// `2026-11-29T01:20:03.250Z` (RFC 3339).
[[nodiscard]] std::string utc_text(domain::Timestamp time);

// How long, for people: `850 ms`, `42 s`, `12 min`, `3 h 05 min`, `4 d 07 h`.
[[nodiscard]] std::string span_text(domain::Milliseconds span);

}  // namespace api::admin
