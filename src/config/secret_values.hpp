#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/bytes.hpp"

// Secrets that stand in the configuration or in a file of their own, one that
// api::access::read_secret_file accepts. White space at the end of a file does not count. Reading
// throws std::runtime_error that names the place and the fix, and nothing of the content;
// std::system_error when it can not be read now and may be later.
namespace config {

inline constexpr std::string_view admin_token_allowed =
    "16 to 4096 visible ASCII characters; empty: none";

// What is wrong with a token, without showing any of it.
[[nodiscard]] std::optional<std::string> problem_of_token(std::string_view token);

[[nodiscard]] std::string read_token_file(const std::string& place,
                                          const std::string& credentials_directory);

// The private key: 64 hexadecimal digits with or without 0x. `key`: the name of the setting.
[[nodiscard]] std::string read_signer_key(const std::string& key, const std::string& place,
                                          const std::string& credentials_directory);

// Whether the bearer token for a remote signer can be read.
void check_signer_token(const std::string& key, const std::string& place,
                        const std::string& credentials_directory);
// The key that nodes of a cluster share: 32 bytes, or 64 hexadecimal digits. White space counts in
// the former. `key`: the name of the setting.
[[nodiscard]] domain::Bytes32 read_cluster_key(const std::string& key, const std::string& place,
                                               const std::string& credentials_directory);
// The key of the vote shares in a backup: 32 bytes as 64 hexadecimal digits.
[[nodiscard]] domain::Bytes32 read_backup_key(const std::string& place);

}  // namespace config
