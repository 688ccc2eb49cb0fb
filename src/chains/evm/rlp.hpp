#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "chains/jsonrpc/wei.hpp"
#include "domain/bytes.hpp"

// Recursive length prefix (Ethereum yellow paper, appendix B).
namespace chains::evm::rlp {

[[nodiscard]] domain::Bytes text(domain::ByteView bytes);
[[nodiscard]] domain::Bytes number(jsonrpc::Wei value);  // big-endian, no leading zeros
[[nodiscard]] domain::Bytes list(const std::vector<domain::Bytes>& encoded);

// The items of one list that fills `bytes` exactly, each still encoded; nothing unless canonical.
[[nodiscard]] std::optional<std::vector<domain::ByteView>> items(domain::ByteView bytes);
// The content of one text item that fills `bytes` exactly.
[[nodiscard]] std::optional<domain::ByteView> content(domain::ByteView bytes);
[[nodiscard]] std::optional<jsonrpc::Wei> number_in(domain::ByteView bytes);

}  // namespace chains::evm::rlp
