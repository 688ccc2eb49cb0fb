#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "commands/drill/notebook.hpp"
#include "domain/bytes.hpp"

namespace commands::drill {

[[nodiscard]] std::string_view path_of(domain::Kind kind);

// Valid, and always the same for one seed and wish. Unified user decryptions are not asked for:
// they are signed.
[[nodiscard]] std::string body_of(std::uint64_t seed, const Wish& wish);

// What the embedded chain knows the share of this wish by.
[[nodiscard]] domain::Bytes32 nullifier_of(std::uint64_t seed, const Wish& wish);

}  // namespace commands::drill
