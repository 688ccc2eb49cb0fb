#pragma once

#include <string>
#include <string_view>

namespace base {

// Replaces every URL in a text by its scheme and "…", so that no key in a path or query survives.
[[nodiscard]] std::string redact_urls(std::string_view text);

}  // namespace base
