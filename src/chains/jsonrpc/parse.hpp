#pragma once

#include <optional>
#include <string>

#include "chains/jsonrpc/node.hpp"

namespace chains::jsonrpc {

// What a node said, as JSON (RFC 8259), however hostile: nothing when it is none, nests deeper than
// 64, holds more than 4 million values (which take far more memory than their text) or names a
// member of a reply twice. Bytes that are no UTF-8 become `?`: nodes put revert data
// into messages as it is. Throws only std::bad_alloc.
[[nodiscard]] std::optional<Json> parse(std::string text);

}  // namespace chains::jsonrpc
