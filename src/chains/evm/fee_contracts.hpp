#pragma once

#include <string>
#include <variant>
#include <vector>

#include "chains/evm/options.hpp"
#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"

namespace chains::evm {

// The contracts that requests are paid through (evm-gateway 1.5).
struct FeeContracts {
    domain::Address token{};
    domain::Address spender{};  // ProtocolPayment
};

struct NoFeeContracts {
    std::string reason;
    bool unanswered = false;  // by the node: asking again may help
};

// As configured; what is not configured is read from the chain. The published contracts have no
// getters for one another but constants in their code (zama-ai/fhevm, gateway-contracts): among
// those of Decryption is ProtocolPayment, which says what it is, and among its own the token.
// Blocks while it asks.
[[nodiscard]] std::variant<FeeContracts, NoFeeContracts> find_fee_contracts(jsonrpc::Node& node,
                                                                            const Options& options);

// Addresses that bytecode pushes (PUSH20), each once, in its order; at most 256.
[[nodiscard]] std::vector<domain::Address> addresses_in(domain::ByteView code);

}  // namespace chains::evm
