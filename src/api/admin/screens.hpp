#pragma once

#include <string>
#include <string_view>

namespace api::admin {

// The answers of the admin interface as text for a terminal, from their JSON: whole lines, no
// control characters. Throw std::runtime_error for what is no such answer.

[[nodiscard]] std::string jobs_screen(std::string_view json);
[[nodiscard]] std::string job_screen(std::string_view json);
[[nodiscard]] std::string status_screen(std::string_view json);
// What was done.
[[nodiscard]] std::string done_screen(std::string_view json);
// What `{"error": …}` says, or the body as it is.
[[nodiscard]] std::string error_screen(std::string_view body);

}  // namespace api::admin
