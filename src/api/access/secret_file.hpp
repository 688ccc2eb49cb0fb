#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace api::access {

inline constexpr std::size_t secret_file_bytes_max = std::size_t{1} << 20U;

// Why a file is not used: its name, what is wrong and what helps. Nothing of its content; a name
// that is no file's may be a secret in the wrong place, and is shown only when it begins like a
// path.
struct FileProblem {
    std::string text;
};

// `credential:NAME` means NAME in `credentials_directory`, where systemd puts what LoadCredential=
// names; anything else is a path. Refused: what is no regular file, what users other than owner and
// group may use, and more than `secret_file_bytes_max` bytes. Whoever gets the text wipes it.
// Throws std::system_error when it can not be read now and may be later.
[[nodiscard]] std::variant<std::string, FileProblem> read_secret_file(
    std::string_view path, std::string_view credentials_directory);

// The path behind `credential:NAME`, or the path that was given.
[[nodiscard]] std::variant<std::string, FileProblem> place_of(
    std::string_view path, std::string_view credentials_directory);

[[nodiscard]] bool is_credential(std::string_view path);

// Overwrites a text that is not needed any more.
void wipe(std::string& text);

}  // namespace api::access
