#pragma once

#include <string>

#include "chains/jsonrpc/node.hpp"
#include "domain/time.hpp"

namespace chains::jsonrpc {

using net::in_words;
using net::stopped;
using net::throttled;

[[nodiscard]] Trouble problem(Trouble::Kind kind, std::string text);

// Of a call that was held back because another had this trouble.
[[nodiscard]] Trouble held_back(const Trouble& other);

}  // namespace chains::jsonrpc
