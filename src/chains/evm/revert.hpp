#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chains/jsonrpc/node.hpp"
#include "domain/failure.hpp"

namespace chains::evm {

inline constexpr std::uint32_t ciphertext_material_not_found = 0x0666cbdf;
inline constexpr std::uint32_t start_timestamp_in_future = 0xf24c0887;

// Whether a node's error says that the contract refused (evm-gateway 4.4), however and wherever the
// node spells it.
[[nodiscard]] bool is_revert(const jsonrpc::NodeError& error);

// The error's selector: the first four bytes of its data if there are as many, else the first `0x`
// with eight hex digits in the message (4.4 [REC]).
[[nodiscard]] std::optional<std::uint32_t> selector_of(const jsonrpc::NodeError& error);

// What a revert is called in a failure text: the selector as `0x` and eight digits, with the name
// where the specification has one (1.6, 4.5), Error(string) and Panic(uint256) decoded; else the
// node's message. No control characters, at most 500 bytes.
[[nodiscard]] std::string describe(const jsonrpc::NodeError& error);

// `Transaction simulation failed: Execution reverted: …` with Reason::reverted and the selector.
[[nodiscard]] domain::Failure reverted(const jsonrpc::NodeError& error);

}  // namespace chains::evm
