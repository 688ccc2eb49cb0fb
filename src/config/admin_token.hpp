#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace config {

inline constexpr std::string_view admin_token_allowed =
    "16 to 4096 visible ASCII characters; empty: none";

// What is wrong with a token, without showing any of it.
[[nodiscard]] std::optional<std::string> problem_of_token(std::string_view token);

// The token in a file that api::access::read_secret_file accepts. White space at its end does not
// count. Throws std::runtime_error that names the place and the fix when it can not be read or when
// what it holds is no token.
[[nodiscard]] std::string read_token_file(const std::string& place,
                                          const std::string& credentials_directory);

}  // namespace config
