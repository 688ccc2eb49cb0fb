#pragma once

#include <string>

#include "domain/time.hpp"
#include "chains/jsonrpc/node.hpp"

namespace chains::jsonrpc {

[[nodiscard]] Trouble trouble(Trouble::Kind kind, std::string text);
[[nodiscard]] Trouble throttled(domain::Milliseconds wait);
[[nodiscard]] Trouble stopped();

// Of a call that was held back because another had this trouble.
[[nodiscard]] Trouble held_back(const Trouble& other);

[[nodiscard]] std::string in_words(domain::Milliseconds time);  // `7 s`, `250 ms`

}  // namespace chains::jsonrpc
