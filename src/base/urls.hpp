#pragma once

#include <string>
#include <string_view>

namespace base {

// Stands where text was left out.
inline constexpr std::string_view ellipsis = "…";

// Replaces every URL in a text by its scheme and "…", so that no key in a path or query survives.
[[nodiscard]] std::string redact_urls(std::string_view text);

}  // namespace base
