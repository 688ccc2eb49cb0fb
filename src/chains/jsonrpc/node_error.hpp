#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chains/jsonrpc/node.hpp"

namespace chains::jsonrpc {

// The member `error` of a reply (JSON-RPC 2.0, 5.1); nothing when its code is no integer. A missing
// message is empty.
[[nodiscard]] std::optional<NodeError> read_node_error(const Json& error,
                                                       std::span<const std::string> secrets);

// Whether it only means: ask later. Not what a contract says, nor a range that holds too much.
[[nodiscard]] bool is_throttling(const NodeError& error);

// At most 200 bytes of a clean message, for the log.
[[nodiscard]] std::string shortened(std::string_view text);

// One line of at most 500 bytes of UTF-8 without URLs and without any of the `secrets`.
[[nodiscard]] std::string sanitised(std::string_view message, std::span<const std::string> secrets);

}  // namespace chains::jsonrpc
