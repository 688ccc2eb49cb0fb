#pragma once

#include <string>

namespace config {

// The private key in a file that api::access::read_secret_file accepts: 64 hexadecimal digits with
// or without 0x, and white space at the end. Throws std::runtime_error that names the place and the
// fix, and nothing of the content.
[[nodiscard]] std::string read_signer_key(const std::string& place,
                                          const std::string& credentials_directory);

}  // namespace config
